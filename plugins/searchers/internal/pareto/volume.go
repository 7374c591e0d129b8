package pareto

import (
	"math"
	"slices"
)

// Voluminous selects k trials of a front one by one, always the one that adds most to the dominated
// volume. The volume is at least 1-1/e of the largest possible one (A. P. Guerreiro and others,
// 2016). The gain of a trial can only shrink when others are selected, so most gains need not be
// computed again.
func Voluminous(front []Scored, k int) (chosen []Scored) {
	points := unit(front)
	gains := make([]float64, len(front))
	for i := range gains {
		gains[i] = math.Inf(1)
	}
	var taken [][]float64
	for range k {
		i := mostGain(points, taken, gains)
		gains[i] = -1
		taken = append(taken, points[i])
		chosen = append(chosen, front[i])
	}
	return chosen
}

// mostGain returns the point that adds most. gains has upper bounds, which it replaces by computed
// values; gains of selected points are negative.
func mostGain(points, taken [][]float64, gains []float64) int {
	best, most := -1, math.Inf(-1)
	for {
		i := 0
		for j := range gains {
			if gains[j] > gains[i] {
				i = j
			}
		}
		if i == best || gains[i] <= most {
			return max(best, 0)
		}
		gains[i] = gain(points[i], taken)
		if gains[i] > most || gains[i] == most && i < best {
			best, most = i, gains[i]
		}
	}
}

// unit scales losses such that the front lies in the cube from 0 to 1, and the reference point, a
// tenth of the range beyond the worst, is 1.
func unit(front []Scored) [][]float64 {
	points := make([][]float64, len(front))
	for i := range points {
		points[i] = make([]float64, len(front[i].Losses))
	}
	for m := range front[0].Losses {
		low, high := math.Inf(1), math.Inf(-1)
		for _, s := range front {
			low, high = math.Min(low, s.Losses[m]), math.Max(high, s.Losses[m])
		}
		// Half values, because the whole range may overflow.
		width := 1.1 * (high/2 - low/2)
		for i, s := range front {
			if width > 0 {
				points[i][m] = (s.Losses[m]/2 - low/2) / width
			}
		}
	}
	return points
}

// gain returns the volume that p adds to that of others: its own minus the part that others
// dominate.
func gain(p []float64, others [][]float64) float64 {
	limited := make([][]float64, len(others))
	for i, q := range others {
		limited[i] = make([]float64, len(p))
		for m := range p {
			limited[i][m] = math.Max(p[m], q[m])
		}
	}
	return box(p) - Volume(limited)
}

// box returns the volume that p dominates in the unit cube.
func box(p []float64) float64 {
	v := 1.0
	for _, x := range p {
		v = float64(v * (1 - x)) // not fused with what follows
	}
	return v
}

// Volume returns the volume of the unit cube that the points dominate: the sum of what each adds to
// the later ones (L. While and others, A fast way of calculating exact hypervolumes, 2012).
func Volume(points [][]float64) float64 {
	points = frontOf(points)
	sum := 0.0
	for i, p := range points {
		sum += gain(p, points[i+1:])
	}
	return sum
}

// frontOf drops dominated points, and duplicates.
func frontOf(points [][]float64) (front [][]float64) {
	points = slices.SortedFunc(slices.Values(points), slices.Compare)
	for _, p := range points {
		covers := func(q []float64) bool { return Dominates(q, p) || slices.Equal(q, p) }
		if !slices.ContainsFunc(front, covers) {
			front = append(front, p)
		}
	}
	return front
}
