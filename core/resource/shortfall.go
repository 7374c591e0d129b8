package resource

import (
	"slices"
	"strconv"
	"strings"
)

// A Shortfall explains why these nodes can never grant a request.
type Shortfall struct {
	Asked   string // the request: "cpu 1, gpu 4"
	Reason  string // the part that does not fit
	Exists  string // the existing resources: "cpu 8, gpu 2"
	Nearest string // the nearest request that fits
}

// Error returns all four in one line.
func (s Shortfall) Error() string {
	return "resources: asked for " + s.Asked + "; " + s.Reason + "; there is " + s.Exists + "; " + s.Nearest
}

// FitsEver reports whether r fits these nodes when nothing else is placed, and if not, why.
func (l *Ledger) FitsEver(r Request) (bool, Shortfall) {
	if l.grants(r) {
		return true, Shortfall{}
	}
	empty := l.emptied()
	if empty.fits(r) {
		return true, Shortfall{}
	}
	s := Shortfall{Asked: r.String(), Exists: l.exists()}
	s.Reason, s.Nearest = empty.explain(r)
	return false, s
}

// grants reports whether an equal request is granted right now, on existing nodes.
func (l *Ledger) grants(r Request) bool {
	return slices.ContainsFunc(l.holds, func(h hold) bool {
		return h.serial != 0 && h.request == r && !slices.ContainsFunc(h.seats, func(s seat) bool { return s.at.gone })
	})
}

// emptied returns a ledger of the same nodes with no grants.
func (l *Ledger) emptied() *Ledger {
	e := NewLedger()
	for _, n := range l.nodes {
		e.nodes = append(e.nodes, e.newNode(n.spec))
	}
	return e
}

// fits does not change the ledger.
func (l *Ledger) fits(r Request) bool {
	p := &l.plan
	if !l.compile(r) || !p.solve(l.nodes) {
		return false
	}
	p.undo(0, len(p.order))
	return true
}

func (l *Ledger) exists() string {
	switch len(l.nodes) {
	case 0:
		return "no node"
	case 1:
		return l.nodes[0].spec.Capacity.String() + " on node " + l.nodes[0].spec.label()
	}
	var parts []string
	for _, u := range l.Usage() {
		parts = append(parts, Item{u.Name, u.Total}.String())
	}
	return strings.Join(parts, ", ") + " on " + strconv.Itoa(len(l.nodes)) + " nodes"
}

// explain looks for a bundle that no node can hold, and otherwise for the part of the group that
// fits.
func (l *Ledger) explain(r Request) (reason, nearest string) {
	bundles := r.Bundles()
	for i, b := range bundles {
		if l.fits(Request{newShape(Pack, []Bundle{b})}) {
			continue
		}
		which := "no node has that much"
		if len(bundles) > 1 {
			which = "no node has " + b.String() + " (bundle " + strconv.Itoa(i+1) + ")"
		}
		return which + l.unknown(b), l.nearest(b)
	}
	return l.explainGroup(r)
}

func (l *Ledger) unknown(b Bundle) string {
	var names []string
	for _, it := range b.items {
		if l.number(it.Name) < 0 {
			names = append(names, it.Name)
		}
	}
	if len(names) == 0 || len(l.nodes) == 0 {
		return ""
	}
	return ", and none has any " + strings.Join(names, ", ")
}

// nearest cuts b down to each node and returns the cut that keeps most resources complete, then
// most resources at all, on the first such node.
func (l *Ledger) nearest(b Bundle) string {
	best, bestScore := "", 0
	for _, n := range l.nodes {
		cut, whole := cutTo(b, n.spec.Capacity)
		if score := whole*(MaxItems+1) + len(cut.items); score > bestScore {
			best, bestScore = cut.String()+" on node "+n.spec.label(), score
		}
	}
	if bestScore == 0 {
		return "nothing of it fits"
	}
	return "the nearest that fits is " + best
}

func cutTo(b, capacity Bundle) (cut Bundle, whole int) {
	for _, it := range b.items {
		if c := capacity.Get(it.Name); c.less(it.Amount) {
			it.Amount = c
		} else {
			whole++
		}
		if !it.Amount.IsZero() {
			cut.items = append(cut.items, it)
		}
	}
	return cut, whole
}

// explainGroup handles groups whose bundles each fit alone.
func (l *Ledger) explainGroup(r Request) (reason, nearest string) {
	sh := r.get()
	reason = "each bundle fits alone, but not all together with " + sh.strategy.String()
	if l.fits(r); l.plan.cut {
		reason = "no arrangement of so many different bundles was found; groups of equal bundles are decided exactly"
	}
	n := l.longestPrefix(sh)
	return reason, "the first " + strconv.Itoa(n) + " of its " + strconv.Itoa(len(sh.bundles)) + " bundles fit"
}

// longestPrefix uses bisection: a group that fits still fits without some of its bundles.
func (l *Ledger) longestPrefix(sh *shape) int {
	low, high := 1, len(sh.bundles) // the first bundle fits, all together do not
	for high-low > 1 {
		mid := (low + high) / 2
		if l.fits(Request{newShape(sh.strategy, sh.bundles[:mid])}) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
