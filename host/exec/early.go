package exec

import (
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/internal/lazily"
)

// earlyInARow is how many leases in a row must end before a trial can start until the user is told that
// others will, too.
const earlyInARow = 5

// earlyReasons is how many different reasons the user is told: an executor may have a new one for each lease.
const earlyReasons = 10

// early counts leases that end before a trial can start on them, and keeps which ends the user was told.
type early struct {
	inARow  int
	reasons int // that the user was told
	gone    int // reasons of the ends of other leases that the user was told
	// worked: a trial could start on some lease. same counts ends in a row for the reason that is their key, the
	// first of them at since.
	worked bool
	same   int
	key    string
	since  time.Time
}

// An experiment on which no trial could ever start ends after so many leases in a row with the same end, over at least
// this time: each costs the cluster a job, and an unattended host would go on for days.
const (
	hopelessInARow = 20
	hopelessAfter  = 5 * time.Minute
)

// again counts an end, and reports whether the next lease would end in the same way. g.mu is held.
func (g *Granter) again(why string) bool {
	x, key := &g.early, numbers().ReplaceAllString(why, "0")
	if x.same == 0 || x.key != key {
		x.same, x.key, x.since = 0, key, g.Clock.Now()
	}
	x.same++
	return !x.worked && x.same >= hopelessInARow && g.Clock.Since(x.since) >= hopelessAfter
}

// works notes that a trial can start on a lease. g.mu is held.
func (g *Granter) works() { g.early.inARow, g.early.same, g.early.worked = 0, 0, true }

// numbers match the parts of a reason that differ between leases that end for the same reason.
var numbers = lazily.Regexp(`[0-9]+`)

// tellEnd tells the user why a lease has ended. Ends of leases on which no trial could start yet are counted. g.mu
// is held.
func (g *Granter) tellEnd(id core.LeaseID, l *lease, why string) {
	switch {
	case l.granted && l.joining == nil:
		g.tellGone(id, "is lost", why)
		return
	case l.adopted:
		g.warnAdoptedLost(id, why)
		return
	}
	if g.early.reasons < earlyReasons && g.Log.Once("early end: "+numbers().ReplaceAllString(why, "0"), fmt.Sprintf(
		"lease %s of %s was lost before a trial could use it: %s; another is requested", g.name(id), g.Title, why)) {
		g.early.reasons++
	}
	g.countEarly(why)
}

// tellGone tells the user why a lease on which trials could run ends or is lost, once for each reason: on a cluster
// that preempts jobs this happens all the time. host.log has each. g.mu is held.
func (g *Granter) tellGone(id core.LeaseID, how, why string) {
	text := fmt.Sprintf("lease %s of %s %s", g.name(id), g.Title, how)
	if why != "" {
		text += ": " + why
	}
	key := "gone: " + how + numbers().ReplaceAllString(why, "0")
	if g.early.gone < earlyReasons && g.Log.Once(key, text+"; later ones with this reason are only in host.log") {
		g.early.gone++
		return
	}
	g.Log.Info(text)
}

// warnAdoptedLost tells the user why a lease of an earlier host is lost before it was used again. g.mu is held.
func (g *Granter) warnAdoptedLost(id core.LeaseID, why string) {
	g.Log.Once("adopted end: "+numbers().ReplaceAllString(why, "0"), fmt.Sprintf(
		"lease %s of %s, which the earlier host had, is lost: %s; what ran on it continues on another one", g.name(id),
		g.Title, why))
}

// countEarly counts a lease on which no trial could start. g.mu is held.
func (g *Granter) countEarly(why string) {
	if g.early.inARow++; g.early.inARow == earlyInARow {
		g.Log.Once("early ends", fmt.Sprintf("%d leases in a row of %s ended before a trial could start, and others "+
			"may, too; the last one: %s; Ctrl-C stops here", earlyInARow, g.Title, why))
	}
}
