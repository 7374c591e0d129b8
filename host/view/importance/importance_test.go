package importance

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

func real(name string) space.Param { return space.Param{Name: name, Kind: space.Real, High: 1} }

// drawn returns trials at random points.
func drawn(t *testing.T, s *space.Space, n int, loss func(space.Point) float64) (trials []Trial) {
	t.Helper()
	rng := space.NewRand(5)
	for range n {
		p, err := s.Sample(rng)
		if err != nil {
			t.Fatal(err)
		}
		trials = append(trials, Trial{p, loss(p)})
	}
	return trials
}

// A parameter counts by its effect on the best trials: the sharper the optimum along it the more, and
// not at all without effect. The place of the optimum does not matter.
func TestShares(t *testing.T) {
	s := &space.Space{Params: []space.Param{real("much"), real("little"), real("nothing"),
		{Name: "one", Kind: space.Real, Low: 3, High: 3}}}
	loss := func(p space.Point) float64 { return 25*(p[0]-0.3)*(p[0]-0.3) + (p[1]-0.5)*(p[1]-0.5) }
	got := Shares(s, drawn(t, s, 1000, loss), 0.1)
	if t.Log(got); got[0] < 0.8 || got[1] > 0.2 || got[1] < 2*got[2] || got[2] > 0.03 || got[3] != 0 {
		t.Error(got)
	}
	if sum := got[0] + got[1] + got[2]; math.Abs(sum-1) > 1e-12 {
		t.Error(sum)
	}
}

// Choices count without order, ordinals and integers with it, logarithms on their scale.
func TestForms(t *testing.T) {
	raws := func(texts ...string) (raw [][]byte) {
		for _, x := range texts {
			raw = append(raw, []byte(x))
		}
		return raw
	}
	s := &space.Space{Params: []space.Param{
		{Name: "choice", Kind: space.Choice, Choices: raws("1", "2", "3")},
		{Name: "idle", Kind: space.Choice, Choices: raws("1", "2", "3")},
		{Name: "ordinal", Kind: space.Ordinal, Choices: raws("1", "2", "3", "4", "5")},
		{Name: "int", Kind: space.Int, Low: 1, High: 1000, Log: true},
		{Name: "normal", Kind: space.Normal, SD: 1},
	}}
	for i, loss := range []func(space.Point) float64{
		func(p space.Point) float64 { return math.Abs(p[0] - 1) },
		nil,
		func(p space.Point) float64 { return math.Abs(p[2] - 3) },
		func(p space.Point) float64 { return math.Abs(math.Log(p[3]) - 3) },
		func(p space.Point) float64 { return math.Abs(p[4] + 1) },
	} {
		if loss == nil {
			continue
		}
		if got := Shares(s, drawn(t, s, 500, loss), 0.1); got[i] < 0.9 {
			t.Errorf("only parameter %d matters: %v", i, got)
		}
	}
}

// A parameter of one branch counts only there, and the branch counts by itself.
func TestConditional(t *testing.T) {
	s := &space.Space{Params: []space.Param{
		{Name: "kind", Kind: space.Choice, Choices: [][]byte{[]byte("0"), []byte("1")}},
		real("inside"), real("other"),
	}}
	s.Params[1].When = &space.Expr{Op: space.In, Param: 0, Set: []int{1}}
	s.Params[2].When = &space.Expr{Op: space.In, Param: 0, Set: []int{0}}
	loss := func(p space.Point) float64 {
		if p[0] == 0 {
			return 1 + p[2]
		}
		return math.Abs(p[1] - 0.9)
	}
	got := Shares(s, drawn(t, s, 1000, loss), 0.1)
	if t.Log(got); got[0] < 0.05 || got[1] < 0.5 || got[2] != 0 {
		t.Error(got)
	}
}

// Nothing, one trial, equal losses, one value: no NaN.
func TestLittle(t *testing.T) {
	s := &space.Space{Params: []space.Param{real("x"), {Name: "c", Kind: space.Choice, Choices: [][]byte{[]byte("0")}}}}
	for _, trials := range [][]Trial{nil, {{space.Point{0.5, 0}, 1}},
		{{space.Point{0.5, 0}, 1}, {space.Point{0.5, 0}, 1}}} {
		for _, x := range Shares(s, trials, 0.1) {
			if math.IsNaN(x) {
				t.Errorf("%d trials: NaN", len(trials))
			}
		}
	}
}

// Many values give what each value by itself gives.
func TestManyValues(t *testing.T) {
	rng := space.NewRand(7)
	list := make([]float64, 3*many)
	for i := range list {
		list[i] = rng.Float64() * rng.Float64()
	}
	got, want := make([]float64, cells), make([]float64, cells)
	width := bandwidth(list, list, cells)
	numeric(got, list, width)
	for _, u := range list {
		kernel(want, u, width, 1)
	}
	for k := range got {
		if math.Abs(got[k]/want[k]-1) > 1e-4 {
			t.Errorf("cell %d: %g, want %g", k, got[k], want[k])
		}
	}
}

// The statistics are those of gonum, which is too large to be in the program for them.
func TestStatistics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 2, 30).Draw(t, "list")
		slices.Sort(list)
		if got, want := deviation(list), stat.StdDev(list, nil); !scalar.EqualWithinAbsOrRel(got, want, 1e-6, 1e-9) {
			t.Errorf("deviation %v, want %v", got, want)
		}
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		want := stat.Quantile(p, stat.LinInterp, list, nil)
		if got := quantile(p, list); !scalar.EqualWithinAbsOrRel(got, want, 1e-6, 1e-9) {
			t.Errorf("quantile %v: %v, want %v", p, got, want)
		}
	})
}

// A conditional parameter that few of the best trials have counts by its effect, also among few trials: without effect
// it does not count for more than one that all trials have, and with a strong one it counts.
func TestFewTrials(t *testing.T) {
	two := [][]byte{{'0'}, {'1'}}
	s := &space.Space{Params: []space.Param{real("x"), {Name: "o", Kind: space.Choice, Choices: two},
		{Name: "m", Kind: space.Choice, Choices: two}, real("C"), real("unused")}}
	s.Params[3].When = &space.Expr{Op: space.In, Param: 2, Set: []int{0}}
	for _, c := range []struct {
		name   string
		effect float64
	}{{"unused", 0}, {"weak", 0.3}, {"strong", 3}} {
		for _, n := range []int{20, 30, 40, 60, 100, 200} {
			mean, tenth := sharesOf(s, n, func(p space.Point) float64 {
				away := 0.3 // what it is on average where it exists
				if !math.IsNaN(p[3]) {
					away = math.Abs(p[3] - 0.3)
				}
				return p[0] + p[1] + c.effect*away
			})
			t.Logf("%s, %d trials: x %.0f %%, o %.0f %%, m %.0f %%, C %.0f %% (a tenth above %.0f %%), unused %.0f %%",
				c.name, n, 100*mean[0], 100*mean[1], 100*mean[2], 100*mean[3], 100*tenth, 100*mean[4])
			switch {
			case c.effect < 1 && (mean[3] > 0.07 || tenth > 0.25):
				t.Errorf("%s, %d trials: C has %v, and of a tenth of the seeds above %v", c.name, n, mean[3], tenth)
			case c.effect > 1 && mean[3] < 1.2*mean[4] && n > 20, c.effect > 1 && mean[3] < 0.2 && n >= 100:
				t.Errorf("%s, %d trials: C has only %v, a parameter without effect %v", c.name, n, mean[3], mean[4])
			}
		}
	}
}

// sharesOf returns the mean shares for random trials of many seeds, and what the share of the fourth parameter exceeds
// for a tenth of the seeds.
func sharesOf(s *space.Space, n int, loss func(space.Point) float64) (mean []float64, tenth float64) {
	const seeds = 100
	mean = make([]float64, len(s.Params))
	var fourth []float64
	for seed := range uint64(seeds) {
		rng, trials := space.NewRand(seed), make([]Trial, n)
		for i := range trials {
			p := s.Complete(s.Draw(rng))
			trials[i] = Trial{p, loss(p)}
		}
		shares := Shares(s, trials, 0.1)
		for i, x := range shares {
			mean[i] += x / seeds
		}
		fourth = append(fourth, shares[3])
	}
	slices.Sort(fourth)
	return mean, fourth[seeds*9/10]
}
