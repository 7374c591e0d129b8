package evolve

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

func explorerOf(t interface{ Fatal(...any) }, sp *space.Space, o Options) *Perturber {
	x, err := NewPerturber(sp, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Explored points always lie in the space.
func TestExploredPointsAreOfTheSpace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := explorerOf(t, schedtest.Mixed, Options{
			Resample: rapid.Float64Range(0, 1).Draw(t, "resample"),
			Factors:  rapid.SliceOfN(rapid.Float64Range(0.1, 10), 1, 3).Draw(t, "factors"),
		})
		rng := space.NewRand(rapid.Uint64().Draw(t, "seed"))
		p, err := schedtest.Mixed.Sample(rng)
		for range 10 {
			if err != nil {
				t.Fatalf("%v: %v", p, err)
			}
			p = x.Perturb(p, nil, rng)
			err = schedtest.Mixed.Check(p)
		}
	})
}

// Every number moves from any value by some factor, also from zero and from the integers 1 and 2, and inside the
// bounds by every factor. At a bound a number without steps turns back; one with steps, and an ordinal, stay there.
func TestWhereValuesMove(t *testing.T) {
	x := explorerOf(t, schedtest.Mixed, Options{Factors: []float64{1}})
	for i, c := range map[int]struct {
		inside []float64
		bounds [2]float64
		stays  bool
	}{
		0: {[]float64{1e-3, 0.01}, [2]float64{1e-4, 1}, false},
		1: {[]float64{0.5}, [2]float64{0, 1}, false},
		2: {[]float64{2, 3}, [2]float64{1, 4}, true},
		3: {[]float64{64}, [2]float64{16, 128}, true},
		4: {[]float64{0, -2, 3}, [2]float64{}, false},
		6: {[]float64{1}, [2]float64{0, 2}, true},
		7: {[]float64{0.1, 0.5}, [2]float64{0, 0.9}, true},
	} {
		name := schedtest.Mixed.Params[i].Name
		for _, factor := range []float64{1.2, 0.8} {
			for _, v := range c.inside {
				if w := x.move(i, v, factor); w == v || w != x.Space.Quantise(i, w) {
					t.Errorf("%s moves from %v by %v to %v", name, v, factor, w)
				}
			}
			for k, v := range c.bounds {
				outward := (k == 1) == (factor > 1)
				if w := x.move(i, v, factor); (w == v) != (c.stays && outward) || w != x.Space.Quantise(i, w) {
					t.Errorf("%s moves from its bound %v by %v to %v", name, v, factor, w)
				}
			}
		}
	}
	if w := x.move(5, 1, 1.2); w != 1 {
		t.Errorf("a choice moves from 1 to %v; it is only drawn anew", w)
	}
}

func TestOnlyWhatMayChange(t *testing.T) {
	x := explorerOf(t, schedtest.Mixed, Options{Mutate: []string{"lr"}, Factors: []float64{1.2, 0.8}})
	donor := space.Point{0.01, 0.5, 2, 64, 0, 0, 1, math.NaN()}
	for seed := range uint64(20) {
		p := x.Perturb(donor, nil, space.NewRand(seed))
		if p[0] == donor[0] {
			t.Errorf("lr stays at %v", p[0])
		}
		p[0] = donor[0]
		if fmt.Sprint(p) != fmt.Sprint(donor) {
			t.Errorf("%v, want %v", p, donor)
		}
	}
}

// If no change satisfies a constraint, the donor's point is used.
func TestConstraintsHold(t *testing.T) {
	sp := &space.Space{
		Params: []space.Param{{Name: "a", Kind: space.Int, Low: 1, High: 9}},
		Constraints: []*space.Expr{{Op: space.Eq, Args: []*space.Expr{
			{Op: space.Number}, {Op: space.Const, Number: 5}}}},
	}
	x := explorerOf(t, sp, Options{Factors: []float64{1.2, 0.8}})
	if p := x.Perturb(space.Point{5}, nil, space.NewRand(1)); p[0] != 5 {
		t.Errorf("got %v, want the donor's 5", p)
	}
}

func TestQuantiles(t *testing.T) {
	for _, c := range []struct {
		n        int
		quantile float64
		want     int
	}{{0, 0.25, 0}, {1, 0.25, 0}, {2, 0.25, 1}, {4, 0.25, 1}, {5, 0.25, 2}, {8, 0.25, 2}, {10, 0.25, 3}, {3, 0.5,
		1}, {100, 0.07, 7}} {
		if got := make(population, c.n).edge(c.quantile); got != c.want {
			t.Errorf("%d·%v: %d, want %d", c.n, c.quantile, got, c.want)
		}
	}
}
