package exec

import (
	"fmt"
	"regexp"

	"github.com/tunehost/tunehost/core"
)

// earlyInARow is how many leases in a row must end before a trial can start until the user is told that
// others will, too.
const earlyInARow = 5

// earlyReasons is how many different reasons the user is told: an executor may have a new one for each lease.
const earlyReasons = 10

// early counts leases that end before a trial can start on them.
type early struct {
	inARow  int
	reasons int // that the user was told
}

// numbers match the parts of a reason that differ between leases that end for the same reason.
var numbers = regexp.MustCompile(`[0-9]+`)

// startable reports that a trial may have started on a lease, or that an earlier host may have started one.
func (l *lease) startable() bool { return l.adopted || l.granted && l.joining == nil }

// endedEarly tells the user why a lease has ended before a trial could start on it. It does nothing for
// other leases. g.mu is held.
func (g *Granter) endedEarly(id core.LeaseID, l *lease, why string) {
	if l.adopted && (!l.granted || l.joining != nil) {
		g.warnAdoptedLost(id, why)
	}
	if l.startable() {
		return
	}
	if g.early.reasons < earlyReasons && g.Log.Once("early end: "+numbers.ReplaceAllString(why, "0"), fmt.Sprintf(
		"lease %s of %s was lost before a trial could use it: %s; another is requested", g.name(id), g.Title, why)) {
		g.early.reasons++
	}
	g.countEarly(why)
}

// warnAdoptedLost tells the user why a lease of an earlier host is lost before it was used again. g.mu is held.
func (g *Granter) warnAdoptedLost(id core.LeaseID, why string) {
	g.Log.Once("adopted end: "+numbers.ReplaceAllString(why, "0"), fmt.Sprintf(
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
