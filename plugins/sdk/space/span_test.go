package space

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// unsetParams is a spanner in which some parameters have no value yet.
type unsetParams struct {
	space *Space
	point Point
}

func (u unsetParams) coordinate(i int) float64 { return u.point[i] }
func (u unsetParams) exists(i int) bool {
	return u.space.Params[i].When == nil || !math.IsNaN(u.point[i])
}

// randomExpr is an expression over four parameters, of numbers or of a truth.
func randomExpr(rng *rand.Rand, depth int, truths bool) *Expr {
	sub := func(t bool) *Expr { return randomExpr(rng, depth-1, t) }
	ops := []Op{Neg, Add, Sub, Mul, Div, IntDiv, Mod, If}
	if truths {
		ops = []Op{Lt, Le, Gt, Ge, Eq, Ne, And, Or, Not, If, In}
	}
	op := ops[rng.IntN(len(ops))]
	switch {
	case depth == 0 && truths || op == In:
		return &Expr{Op: In, Param: 0, Set: []int{rng.IntN(3)}}
	case depth == 0 && rng.IntN(2) == 0:
		return &Expr{Op: Const, Number: float64(rng.IntN(7) - 3)}
	case depth == 0:
		return &Expr{Op: Number, Param: rng.IntN(4)}
	case op == Neg || op == Not:
		return &Expr{Op: op, Args: []*Expr{sub(truths)}}
	case op == If:
		return &Expr{Op: op, Args: []*Expr{sub(true), sub(truths), sub(truths)}}
	case op == And || op == Or:
		return &Expr{Op: op, Args: []*Expr{sub(true), sub(true), sub(true)}}
	}
	return &Expr{Op: op, Args: []*Expr{sub(false), sub(false)}}
}

// spanSpace has numbers of each kind, and a parameter that may not exist.
func spanSpace() *Space {
	return &Space{Params: []Param{
		{Name: "a", Kind: Choice, Grid: true, Choices: [][]byte{[]byte("-1"), []byte("0"), []byte("2.5")}},
		{Name: "b", Kind: Int, Low: -2, High: 2},
		{Name: "c", Kind: Real, Low: 0.5, High: 1.5, Step: 0.5},
		{Name: "d", Kind: Choice, Grid: true, Choices: [][]byte{[]byte("1"), []byte("3")},
			When: &Expr{Op: In, Param: 0, Set: []int{0, 1}}},
	}}
}

// What an expression is at a point is within its span at every part of the point.
func TestSpans(t *testing.T) {
	s, rng := spanSpace(), NewRand(1)
	all := slices.Collect(s.All())
	decided := 0
	for range 3000 {
		e := randomExpr(rng, 1+rng.IntN(3), true)
		p := all[rng.IntN(len(all))]
		part := slices.Clone(p)
		for i := rng.IntN(5); i < len(part); i++ {
			part[i] = math.NaN()
		}
		got, x := newRanges(s).within(e, unsetParams{s, part}), e.Eval(s, p)
		if math.IsNaN(x) && !got.unknown || x < got.low || x > got.high {
			t.Fatalf("%+v at %v is %v, and not within %+v of %v", e, p, x, got, part)
		}
		if got == exactly(0) {
			decided++
		}
	}
	if decided < 100 {
		t.Errorf("%d of the expressions were decided to be false", decided)
	}
}

// Whole numbers are read as all others are, to the bit.
func TestShortIntegers(t *testing.T) {
	for _, text := range []string{"0", "-0", "7", "-12", "999999999999999", "-999999999999999", "1000000000000001", "-",
		"1e3", "1.5", "9007199254740993"} {
		want, err := strconv.ParseFloat(text, 64)
		if got := jsonNumber([]byte(text)); math.Float64bits(got) != math.Float64bits(want) && err == nil ||
			err != nil && !math.IsNaN(got) {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}

// Looking ahead finds the same combinations of grid axes alone as looking at each, in fewer steps.
func TestPossibleCells(t *testing.T) {
	s, rng := spanSpace(), NewRand(2)
	s.Params = append(s.Params[:1], s.Params[3])
	for range 500 {
		e := randomExpr(rng, 1+rng.IntN(3), true)
		if s.Constraints = []*Expr{e}; slices.ContainsFunc([]int{2, 3}, func(i int) bool { return uses(e, i) }) {
			continue
		}
		want, _ := s.Cells(nil, 1000)
		if got, _ := s.PossibleCells(nil, 1000); !slices.Equal(got, want) {
			t.Fatalf("%+v: %v, want %v", e, got, want)
		}
	}
}

func uses(e *Expr, i int) bool {
	return e.Op == Number && e.Param == i || slices.ContainsFunc(e.Args, func(a *Expr) bool { return uses(a, i) })
}

// A sum over nine axes leaves few of a billion combinations, or none: no look at each is needed.
func TestCellsOfLargeGrids(t *testing.T) {
	s := &Space{}
	sum := &Expr{Op: Const}
	for i := range 9 {
		p := Param{Name: fmt.Sprint(i), Kind: Choice, Grid: true}
		for k := range 10 {
			p.Choices = append(p.Choices, fmt.Append(nil, k+1))
		}
		s.Params = append(s.Params, p)
		sum = &Expr{Op: Add, Args: []*Expr{sum, {Op: Number, Param: i}}}
	}
	for most, want := range map[float64]int{8: 0, 9: 1, 11: 55} {
		s.Constraints = []*Expr{{Op: Le, Args: []*Expr{sum, {Op: Const, Number: most}}}}
		if cells, ok := s.PossibleCells(nil, 10_000); !ok || len(cells) != want {
			t.Errorf("at most %v: %d combinations, %v; want %d", most, len(cells), ok, want)
		}
		if _, ok := s.Cells(nil, 10_000); ok {
			t.Error("without looking ahead few steps are enough, too")
		}
	}
}
