package resource

import "slices"

// Beyond places a request on a node that has no room for it now, and grants nothing: the ledger's
// amounts stay unchanged, and the placement must not be released. The request must be one bundle
// without GPUs that fits an idle node; otherwise Beyond returns false.
func (l *Ledger) Beyond(r Request) (Placement, bool) {
	bundles := r.Bundles()
	if len(bundles) != 1 || !bundles[0].Get(GPU).IsZero() || !l.compile(r) {
		return Placement{}, false
	}
	for _, n := range l.nodes {
		if n.holds(&l.plan.needs[0]) {
			return Placement{Slots: n.plain[:], Beyond: true}, true
		}
	}
	return Placement{}, false
}

// holds reports whether the node has room when idle.
func (n *node) holds(b *need) bool {
	return !slices.ContainsFunc(b.wants, func(w want) bool { return n.cap[w.resource].less(w.amount) })
}

// Plus adds a request to a result of [Ledger.Usage].
func Plus(list []Usage, r Request) []Usage {
	for _, b := range r.Bundles() {
		for i := range list {
			list[i].Used = list[i].Used.Add(b.Get(list[i].Name))
		}
	}
	return list
}
