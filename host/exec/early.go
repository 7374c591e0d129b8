package exec

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
	x, key := &g.early, alike(why)
	if x.same == 0 || x.key != key {
		x.same, x.key, x.since = 0, key, g.Clock.Now()
	}
	x.same++
	return !x.worked && x.same >= hopelessInARow && g.Clock.Since(x.since) >= hopelessAfter
}

// works notes that a trial can start on a lease. g.mu is held.
func (g *Granter) works() { g.early.inARow, g.early.same, g.early.worked = 0, 0, true }

// alike returns a reason without the parts that differ between leases that end for the same reason.
func alike(why string) string { return differs().ReplaceAllString(why, "0") }

var differs = lazily.Regexp(`\bon the nodes? \S+|[0-9]+`)

// tellEnd tells the user why a lease has ended. Ends of leases on which no trial could start yet are counted. g.mu
// is held.
func (g *Granter) tellEnd(id core.LeaseID, l *lease, why string) {
	switch {
	case l.granted && l.joining == nil:
		g.tellGone(id, l, "is lost", why)
		return
	case l.adopted:
		g.warnAdoptedLost(id, why)
		return
	}
	text := fmt.Sprintf("%s was lost before a trial could use it: %s", g.known(id, l, why), why)
	if g.early.reasons < earlyReasons && g.Log.Once("early end: "+alike(why), text+"; another is requested") {
		g.early.reasons++
	} else {
		g.Log.Info(text) // it may be on another node
	}
	g.countEarly(why)
}

// known names a lease for the user, with its nodes if they are known and the reason does not name them.
func (g *Granter) known(id core.LeaseID, l *lease, why string) string {
	text := fmt.Sprintf("lease %s of %s", g.name(id), g.Title)
	if l == nil {
		return text
	}
	nodes := l.places()
	if len(nodes) == 0 || slices.ContainsFunc(nodes, func(n string) bool { return mentions(why, n) }) {
		return text
	}
	return text + " on " + nodesOf(nodes)
}

// mentions reports whether a text has a name that is not a part of another one: n1 is no part of n10.
func mentions(text, name string) bool {
	for from := 0; ; from++ {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		from += at
		last, _ := utf8.DecodeLastRuneInString(text[:from])
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[from+len(name):], ".")) // a dot may end a sentence
		if !inName(last) && !inName(next) {
			return true
		}
	}
}

func inName(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// nodesOf names nodes for the user.
func nodesOf(nodes []string) string {
	if len(nodes) == 1 {
		return "the node " + nodes[0]
	}
	return "the nodes " + some(nodes)
}

// places are the nodes of a granted lease, each once.
func (l *lease) places() []string {
	nodes := slices.Compact(slices.Sorted(slices.Values(l.nodes)))
	return slices.DeleteFunc(nodes, func(n string) bool { return n == "" })
}

// mostNodes is how many nodes of a lease a message names.
const mostNodes = 8

func some(nodes []string) string {
	if more := len(nodes) - mostNodes; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(nodes[:mostNodes], ","), more)
	}
	return strings.Join(nodes, ",")
}

// tellGone tells the user why a lease on which trials could run ends or is lost, once for each reason: on a cluster
// that preempts jobs this happens all the time. host.log has each. g.mu is held.
func (g *Granter) tellGone(id core.LeaseID, l *lease, how, why string) {
	text := g.known(id, l, why) + " " + how
	if why != "" {
		text += ": " + why
	}
	key := "gone: " + how + alike(why)
	if g.early.gone < earlyReasons && g.Log.Once(key, text+"; later ones with this reason are only in host.log") {
		g.early.gone++
		return
	}
	g.Log.Info(text)
}

// warnAdoptedLost tells the user why a lease of an earlier host is lost before it was used again. g.mu is held.
func (g *Granter) warnAdoptedLost(id core.LeaseID, why string) {
	g.Log.Once("adopted end: "+alike(why), fmt.Sprintf(
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
