package resource

import (
	"cmp"
	"slices"
)

// searchSteps bounds the work of one Place: the number of nodes examined after the preferred
// choices have failed. It is counted, not timed, so that every machine stops at the same point.
const searchSteps = 1 << 20

// A plan is the current placement. Its slices are kept between calls, so that placing a plain
// request allocates nothing.
type plan struct {
	*shape
	nodes []*node // candidates, by id
	needs []need  // of each bundle
	wants []want  // backing array of needs
	seats []seat  // of each placed bundle
	devs  []uint16
	ranks []*node // for StrictPack: nodes in order of preference
	steps int
	cut   bool // the search ended before it was complete
}

// A seat is the place of a bundle: its devices are devs[from:to].
type seat struct {
	at       *node
	from, to int
}

// solve finds a place for each bundle and takes it, or takes nothing.
func (p *plan) solve(nodes []*node) bool {
	p.nodes, p.steps, p.cut = nodes, searchSteps, false
	p.devs = p.devs[:0]
	p.seats = slices.Grow(p.seats[:0], len(p.order))[:len(p.order)]
	switch {
	case len(p.order) == 1:
		return p.greedy(0)
	case p.strategy == StrictPack:
		return p.onOneNode(nodes, p.search)
	case p.strategy == Pack && p.onOneNode(nodes, p.greedy):
		return true
	}
	p.nodes = nodes
	return p.search(0)
}

// onOneNode tries the nodes one at a time, the fullest first.
func (p *plan) onOneNode(nodes []*node, place func(int) bool) bool {
	p.ranks = append(p.ranks[:0], nodes...)
	slices.SortStableFunc(p.ranks, func(a, b *node) int { return cmp.Compare(b.load, a.load) })
	for i := range p.ranks {
		p.nodes = p.ranks[i : i+1]
		if place(0) {
			return true
		}
	}
	return false
}

// greedy places the bundles order[k:], each on the best node, or none of them.
func (p *plan) greedy(k int) bool {
	for i := k; i < len(p.order); i++ {
		at := p.best(i)
		if at == nil {
			p.undo(k, i)
			return false
		}
		p.take(i, at, -1)
	}
	return true
}

func (p *plan) need(i int) *need { return &p.needs[p.order[i]] }

// open reports whether the strategy permits another bundle on n.
func (p *plan) open(n *node) bool { return p.strategy != StrictSpread || n.group == 0 }

// best returns the preferred node for order[i], or nil if it fits none.
func (p *plan) best(i int) *node {
	b := p.need(i)
	if len(p.nodes) == 1 {
		p.steps--
		if n := p.nodes[0]; p.open(n) && n.fits(b) {
			return n
		}
		return nil
	}
	var best *node
	var bestRank rank
	alike := p.alike(i)
	for _, n := range p.nodes {
		p.steps--
		if !p.open(n) || !n.fits(b) {
			continue
		}
		if r := p.rank(n, b, alike); best == nil || r.less(bestRank) {
			best, bestRank = n, r
		}
	}
	return best
}

// A rank orders nodes; the smallest is preferred.
type rank [4]int

func (r rank) less(s rank) bool {
	for i := range r {
		if r[i] != s[i] {
			return r[i] < s[i]
		}
	}
	return false
}

func (p *plan) rank(n *node, b *need, alike int) rank {
	if p.strategy == Spread || p.strategy == StrictSpread {
		return rank{n.group, int(n.load)}
	}
	r := rank{-n.group, -1, 0, -int(n.load)}
	if alike > 1 {
		r[1] = -n.room(b, alike)
	}
	if b.devs == 0 && b.share == 0 {
		r[2] = n.idle // leave GPUs to requests that need them
	}
	return r
}

// alike returns how many bundles from order[i] are equal to it.
func (p *plan) alike(i int) int {
	n := 1
	for i+n < len(p.order) && p.class[p.order[i+n]] == p.class[p.order[i]] {
		n++
	}
	return n
}

func (p *plan) take(i int, n *node, dev int) {
	from := len(p.devs)
	p.devs = n.take(p.need(i), dev, p.devs)
	n.group++
	p.seats[p.order[i]] = seat{n, from, len(p.devs)}
}

// undo releases order[k:end], the last first.
func (p *plan) undo(k, end int) {
	for i := end - 1; i >= k; i-- {
		s := p.seats[p.order[i]]
		s.at.give(p.need(i), p.devs[s.from:s.to])
		s.at.group--
		p.devs = p.devs[:s.from]
	}
}

// search places order[k:], where k begins a class: greedily, or else by trying every place for the
// bundles of this class and searching on from each.
func (p *plan) search(k int) bool {
	if k == len(p.order) {
		return true
	}
	if !p.possible(k) {
		return false
	}
	if p.greedy(k) {
		return true
	}
	end := k + p.alike(k)
	return end < len(p.order) && p.branch(k, end, 0, 0)
}

// possible is a necessary condition for order[k:], and a sufficient one if they are all alike: for
// each class alone, enough bundles fit.
func (p *plan) possible(k int) bool {
	for i := k; i < len(p.order); {
		alike, room := p.alike(i), 0
		for _, n := range p.nodes {
			p.steps--
			if p.strategy != StrictSpread {
				room += n.room(p.need(i), alike-room)
			} else if p.open(n) && n.fits(p.need(i)) {
				room++
			}
			if room >= alike {
				break
			}
		}
		if room < alike {
			return false
		}
		i += alike
	}
	return true
}

// branch places order[i:end], which are alike, at (node, device) or later, in ascending order,
// since alike bundles are interchangeable; then it continues.
func (p *plan) branch(i, end, node, device int) bool {
	if i == end {
		return p.search(end)
	}
	for x := node; x < len(p.nodes); x++ {
		if p.steps--; p.steps < 0 {
			p.cut = true
			return false
		}
		seen := x > node && device == 0 && p.nodes[x].same(p.nodes[x-1])
		if x > node {
			device = 0
		}
		if !seen && p.branchAt(i, end, x, device) {
			return true
		}
	}
	return false
}

// branchAt tries the places on one node. Devices with equal room are equivalent.
func (p *plan) branchAt(i, end, x, device int) bool {
	n, b := p.nodes[x], p.need(i)
	if !p.open(n) || !n.fits(b) {
		return false
	}
	if b.share == 0 {
		return p.branchOn(i, end, x, -1)
	}
	for d := device; d < len(n.share); d++ {
		free := n.share[d]
		if free >= b.share && !slices.Contains(n.share[device:d], free) && p.branchOn(i, end, x, d) {
			return true
		}
	}
	return false
}

func (p *plan) branchOn(i, end, x, device int) bool {
	p.take(i, p.nodes[x], device)
	if p.branch(i+1, end, x, max(0, device)) {
		return true
	}
	p.undo(i, i+1)
	return false
}
