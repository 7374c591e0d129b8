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
	numeric(got, list)
	width := bandwidth(list, cells)
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
