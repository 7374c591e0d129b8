package auto

import (
	"context"
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/outcomes"
	. "github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

// model has a choice of three: a has one parameter, b has three and a choice, of which one value has
// a parameter, and c has none.
func model() *space.Space {
	in := func(i int, set ...int) *space.Expr { return &space.Expr{Op: space.In, Param: i, Set: set} }
	sp := Reals(5, 0, 1)
	sp.Params[0] = space.Param{Name: "model", Kind: space.Choice, Choices: Raws("1", "2", "3")}
	sp.Params[1].When = in(0, 0)
	for i := 2; i < 5; i++ {
		sp.Params[i].When = in(0, 1)
	}
	return &space.Space{Params: append(sp.Params,
		space.Param{Name: "kind", Kind: space.Choice, Choices: Raws("1", "2", "3"), When: in(0, 1)},
		space.Param{Name: "size", Kind: space.Int, Low: 1, High: 9, When: in(5, 2)})}
}

// The third model is bad. The first is easy, up to a loss of 0.3; the second has a loss of 0, but
// only with four good values.
func modelLoss(p space.Point) float64 {
	switch p[0] {
	case 0:
		return 0.3 + math.Abs(p[1]-0.6)
	case 1:
		loss := 0.2 * math.Abs(p[5]-2)
		for _, x := range p[2:5] {
			loss += 1 - math.Exp(-30*(x-0.7)*(x-0.7))
		}
		return loss
	}
	return 2
}

// A branch that looks bad at first is found to be the best one.
func TestLeavesABranch(t *testing.T) {
	const runs = 4
	left := 0
	for seed := range runs {
		best := math.Inf(1)
		Run(t, mustOpen(t, model()), model(), seed, 100, 1, func(p space.Point) []float64 {
			best = min(best, modelLoss(p))
			return []float64{modelLoss(p)}
		})
		if t.Logf("%.3f", best); best < 0.25 {
			left++
		}
	}
	if left < runs-1 {
		t.Errorf("%d of %d runs", left, runs)
	}
}

// given records the requests of a member.
type given struct {
	spy
	points []space.Point
}

func (g *given) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	g.points = append(g.points, requests[0].Given)
	return g.spy.Suggest(ctx, requests)
}

// After ten trials that were no better, two suggestions in four are tpe's for the branch that lacks
// most trials, until a trial is better.
func TestBranchesTakeTurns(t *testing.T) {
	sp := model()
	s, asked, _ := spied(t, sp)
	tpe := &given{spy: spy{name: "tpe", asked: asked, point: sp.Complete(sp.Draw(space.NewRand(1)))}}
	s.members["tpe"] = tpe
	n := 0
	end := func(p space.Point, loss float64) {
		Observe(t, s, Added(n, sp.Complete(p)), Completed(n, loss))
		n++
	}
	who := func() (list [4]string) {
		*asked = nil
		for i := range list {
			Suggest(t, s, Request(1, 400+i))
		}
		return [4]string(*asked)
	}
	first, second := space.Point{0, 0.5, 0.5, 0.5, 0.5, 0, 5}, space.Point{1, 0.5, 0.5, 0.5, 0.5, 0, 5}
	end(second, 2)
	end(first, 1)
	for range patience - 1 {
		end(first, 3)
	}
	if got := who(); got != [4]string{"gp", "gp", "gp", "tpe"} {
		t.Errorf("before: %v", got)
	}
	end(first, 3)
	tpe.points = nil
	if got := who(); got != [4]string{"gp", "tpe", "tpe", "tpe"} {
		t.Errorf("while nothing is better: %v", got)
	}
	if p := tpe.points[0]; p[0] != 2 || !math.IsNaN(p[1]) {
		t.Errorf("%v; the third model was never tried", p)
	}
	end(space.Point{2}, 5)
	tpe.points = nil
	who()
	if p := tpe.points[0]; p[0] != 1 || p[5] != 1 || !math.IsNaN(p[2]) {
		t.Errorf("%v; the second model lacks trials, and its second kind", p)
	}
	if p := tpe.points[2]; p != nil {
		t.Errorf("%v; the last turn is free", p)
	}
	end(first, 0.9)
	if got := who(); got != [4]string{"gp", "gp", "gp", "tpe"} {
		t.Errorf("after a better trial: %v", got)
	}
}

// The number of trials that values are to have depends on the places of their best losses, and on
// their parameters.
func TestPick(t *testing.T) {
	for _, c := range []struct {
		values []branch
		want   int
	}{
		{[]branch{{9, 1, 1}, {4, 2, 1}}, 1},
		{[]branch{{9, 1, 1}, {5, 2, 1}}, 0},
		{[]branch{{9, 1, 1}, {5, 1, 1}}, 1},
		{[]branch{{9, 1, 1}, {6, 2, 3}}, 1},
		{[]branch{{9, 1, 1}, {10, 2, 3}}, 0},
		{[]branch{{9, 1, 1}, {3, 2, 1}, {2, 3, 1}, {0, math.Inf(-1), 0}}, 3},
		{[]branch{{9, math.Inf(1), 1}, {8, math.Inf(1), 1}}, 1},
	} {
		x := choice{values: c.values}
		if got := x.pick(); got != c.want {
			t.Errorf("%v: %d, want %d", c.values, got, c.want)
		}
	}
}

// A trial that failed, and that the user ran again, is one trial of its branch, with its new loss.
func TestRetriedIsOneTrial(t *testing.T) {
	b, none := newBranches(model()), math.NaN()
	p := space.Point{0, 0.5, none, none, none, none, none}
	b.add(&outcomes.Outcome{Point: p, Losses: []float64{math.Inf(1)}})
	b.add(&outcomes.Outcome{Point: p, Losses: []float64{3}, Again: true})
	if v := b.choices[0].values[0]; v.trials != 1 || v.best != 3 || b.ended != 1 || b.best != 3 {
		t.Errorf("%+v, %d ended, the best %v", v, b.ended, b.best)
	}
}

// A branch given by the user stays, a branch without points is left, and each point is new.
func TestBranchesAsFarAsPossible(t *testing.T) {
	sp := model()
	b := newBranches(sp)
	p := b.given(1, space.Point{1, math.NaN(), 0.5, math.NaN(), math.NaN(), 2, math.NaN()})
	if p[0] != 1 || p[2] != 0.5 || p[5] != 2 {
		t.Error(p)
	}
	t.Run("once", func(t *testing.T) { EachPointOnce(t, Plugin) })
	t.Run("constraint", func(t *testing.T) {
		sp.Constraints = []*space.Expr{{Op: space.In, Param: 0, Set: []int{0}}}
		constant := func(space.Point) []float64 { return []float64{1} }
		for _, p := range Run(t, mustOpen(t, sp), sp, 1, 40, 1, constant) {
			if p[0] != 0 {
				t.Error(p)
			}
		}
	})
}

// A choice divides a space if each of two values has a parameter that the other lacks.
func TestDivides(t *testing.T) {
	for _, c := range []struct {
		first, second []int // the values with the second parameter, and those with the third
		want          bool
	}{
		{[]int{0}, []int{1}, true}, {[]int{0}, []int{0}, false}, {[]int{0, 1}, []int{0}, false},
		{[]int{0, 1}, []int{0, 2}, true},
		{[]int{0, 1, 2}, []int{0, 1, 2}, false},
	} {
		sp := Reals(3, 0, 1)
		sp.Params[0] = space.Param{Name: "solver", Kind: space.Choice, Choices: Raws("1", "2", "3")}
		for i, set := range [][]int{c.first, c.second} {
			sp.Params[1+i].When = &space.Expr{Op: space.In, Param: 0, Set: set}
		}
		if got := newBranches(sp) != nil; got != c.want {
			t.Errorf("%v %v: %t", c.first, c.second, got)
		}
	}
}

// Without conditions, for grids, and with several objectives there are no branches.
func TestNoBranches(t *testing.T) {
	grid := model()
	grid.Params[0].Grid = true
	for _, sp := range []*space.Space{Reals(3, 0, 1), grid} {
		if b := newBranches(sp); b != nil || b.turn(1) {
			t.Errorf("%+v", b)
		}
	}
	s, err := newSearcher(sdk.Problem{Space: model(), Objectives: make([]sdk.Objective, 2)}, options{}, func(string) {})
	if err != nil || s.branches != nil {
		t.Error(s, err)
	}
}
