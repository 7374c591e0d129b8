package moasha

import (
	"container/heap"
	"math"
	"slices"
	"sort"
)

// among reports whether v, one of the layer, is among the first k places of its order, or equals
// one of them.
//
// The order is an ε-net. The first place is the best by the first loss. Each next place is the point
// farthest from all earlier places; if there are several, the first by compare. Losses are measured
// as shares of the layer's ranges.
func (l layer) among(v vector, k int) bool {
	distinct := slices.CompactFunc(slices.Clone(l), func(a, b vector) bool { return slices.Equal(a, b) })
	own, _ := slices.BinarySearchFunc(distinct, v, compare)
	equal := len(l) - len(distinct) // duplicates, which share the places of their originals
	points := measured(distinct)
	next := points.far()
	if len(v) == 2 {
		next = points.gaps()
	}
	for taken := 0; taken < k; taken++ {
		i := next()
		if i == own {
			return true
		}
		if equal > 0 {
			taken += copies(l, distinct[i])
		}
	}
	return false
}

// copies returns the number of duplicates of w.
func copies(l layer, w vector) (n int) {
	i, _ := slices.BinarySearchFunc(l, w, compare)
	for i++; i < len(l) && slices.Equal(l[i], w); i++ {
		n++
	}
	return n
}

// points are those of a layer, measured as shares of its ranges.
type points struct {
	layer
	span []float64 // half of each range, because a range may overflow
}

func measured(l layer) points {
	p := points{l, make([]float64, len(l[0]))}
	for m := range p.span {
		low, high := l[0][m], l[0][m]
		for _, v := range l {
			low, high = min(low, v[m]), max(high, v[m])
		}
		p.span[m] = high/2 - low/2
	}
	return p
}

// distance returns the square of the distance between two points.
func (p points) distance(i, j int) (d float64) {
	for m, span := range p.span {
		if span > 0 {
			x := (p.layer[i][m]/2 - p.layer[j][m]/2) / span
			d += float64(x * x)
		}
	}
	return d
}

// far returns the places of the order one by one, with a pass over the points for each.
func (p points) far() (next func() int) {
	nearest := slices.Repeat([]float64{math.Inf(1)}, len(p.layer))
	return func() int {
		best := 0
		for i, d := range nearest {
			if d > nearest[best] {
				best = i
			}
		}
		for i := range nearest {
			nearest[i] = min(nearest[i], p.distance(i, best))
		}
		nearest[best] = -1
		return best
	}
}

// gaps returns the places of the order for points in the plane whose losses are opposed: the
// nearest place is one of the two neighbours along the line, and the point farthest from two places
// is where both are equally near.
func (p points) gaps() (next func() int) {
	var open gapHeap
	split := func(from, to int) {
		if g, ok := p.widest(from, to); ok {
			heap.Push(&open, g)
		}
	}
	begun := false
	return func() int {
		if !begun {
			begun = true
			split(0, len(p.layer))
			return 0
		}
		g := heap.Pop(&open).(gap)
		split(g.from, g.at)
		split(g.at, g.to)
		return g.at
	}
}

// A gap is the range between two places, or after the last one, with the point in it that is
// farthest from both.
type gap struct {
	from, at, to int
	far          float64
}

// widest returns the farthest point between two places; to may be beyond the last point.
func (p points) widest(from, to int) (g gap, ok bool) {
	if to-from < 2 {
		return gap{}, false
	}
	if to == len(p.layer) {
		return gap{from, to - 1, to, p.distance(from, to-1)}, true
	}
	near := func(i int) float64 { return min(p.distance(i, from), p.distance(i, to)) }
	// The first point that is as far from the left place as from the right one.
	i := from + 1 + sort.Search(to-from-2, func(i int) bool {
		return p.distance(from+1+i, from) >= p.distance(from+1+i, to)
	})
	if i-1 > from && near(i-1) >= near(i) {
		i--
	}
	return gap{from, i, to, near(i)}, true
}

// gapHeap has the widest gap first; if gaps are equal, the first along the line.
type gapHeap []gap

func (h gapHeap) Len() int { return len(h) }
func (h gapHeap) Less(i, j int) bool {
	return h[i].far > h[j].far || h[i].far == h[j].far && h[i].at < h[j].at
}
func (h gapHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *gapHeap) Push(x any)   { *h = append(*h, x.(gap)) }
func (h *gapHeap) Pop() any {
	last := len(*h) - 1
	g := (*h)[last]
	*h = (*h)[:last]
	return g
}
