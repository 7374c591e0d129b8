package pareto

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// plainVolume counts dominated points of a lattice.
func plainVolume(points [][]float64, parts int) float64 {
	dims := len(points[0])
	all := int(math.Pow(float64(parts), float64(dims)))
	inside := 0
	x := make([]float64, dims)
	for cell := range all {
		for m, rest := 0, cell; m < dims; m, rest = m+1, rest/parts {
			x[m] = (float64(rest%parts) + 0.5) / float64(parts)
		}
		if slices.ContainsFunc(points, func(p []float64) bool { return Dominates(p, x) }) {
			inside++
		}
	}
	return float64(inside) / float64(all)
}

// Points on a lattice, so that counting is exact.
func TestVolume(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims, n := rapid.IntRange(2, 4).Draw(t, "dims"), rapid.IntRange(1, 6).Draw(t, "n")
		var points [][]float64
		for range n {
			p := make([]float64, dims)
			for m := range p {
				p[m] = float64(rapid.IntRange(0, 8).Draw(t, "x")) / 8
			}
			points = append(points, p)
		}
		if got, want := Volume(points), plainVolume(points, 8); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v: %g, want %g", points, got, want)
		}
	})
}

// Greedy choice with bounds equals greedy choice without them.
func TestVoluminous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := someFront(rapid.Uint64().Draw(t, "seed"), 60, rapid.IntRange(2, 4).Draw(t, "dims"))
		front := Layers(random, 1)[0]
		points := unit(front)
		var want, taken []int
		var chosen [][]float64
		for range min(6, len(front)) {
			best, most := -1, math.Inf(-1)
			for i := range points {
				if g := gain(points[i], chosen); !slices.Contains(taken, i) && g > most {
					best, most = i, g
				}
			}
			taken, chosen = append(taken, best), append(chosen, points[best])
			want = append(want, front[best].Trial)
		}
		var got []int
		for _, s := range Voluminous(front, min(6, len(front))) {
			got = append(got, s.Trial)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// someFront returns random trials.
func someFront(seed uint64, n, dims int) (front []Scored) {
	rng := space.NewRand(seed)
	for i := range n {
		losses := make([]float64, dims)
		for m := range losses {
			losses[m] = rng.NormFloat64()
		}
		front = append(front, Scored{i, losses})
	}
	return front
}

// Layers match their definition: no trial of the first is dominated; each trial of the next is
// dominated by one of the previous layer and by none of its own.
func TestLayers(t *testing.T) {
	all := Layers(someFront(3, 200, 3), 200)
	count := 0
	for k, front := range all {
		count += len(front)
		for _, s := range front {
			by := func(t Scored) bool { return Dominates(t.Losses, s.Losses) }
			if slices.ContainsFunc(front, by) || k > 0 && !slices.ContainsFunc(all[k-1], by) {
				t.Fatalf("layer %d: %v", k, s)
			}
		}
	}
	if count != 200 || len(all) < 3 {
		t.Errorf("%d in %d layers", count, len(all))
	}
}
