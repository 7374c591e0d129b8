package space

import (
	"fmt"
	"math"
	"testing"
)

// Cells has the combinations that a walk over all points finds, each once; what depends on other parameters stays.
func TestCells(t *testing.T) {
	axis := func(name string, values ...string) Param {
		p := Param{Name: name, Kind: Choice, Grid: true}
		for _, v := range values {
			p.Choices = append(p.Choices, []byte(v))
		}
		return p
	}
	number := func(i int) *Expr { return &Expr{Op: Number, Param: i} }
	a, b := axis("a", "1", "3"), axis("b", "1", "2", "3")
	child := b
	child.When = &Expr{Op: In, Param: 0, Set: []int{0}}
	u := Param{Name: "u", Kind: Real, Low: 0, High: 1}
	open := b
	open.When = &Expr{Op: Gt, Args: []*Expr{number(1), {Op: Const, Number: 0.5}}}
	gone := Param{Name: "g", Kind: Real, Low: 0, High: 1, When: &Expr{Op: Const}}
	nan := math.NaN()
	for i, c := range []struct {
		params      []Param
		constraints []*Expr
		given       Point
		want        string
	}{
		{[]Param{a, b}, nil, nil, "[0 1 2 3 4 5]"},
		{[]Param{a, b}, nil, Point{1, nan}, "[3 4 5]"},
		{[]Param{a, b}, []*Expr{{Op: Ne, Args: []*Expr{number(0), number(1)}}}, nil, "[1 2 3 4]"},
		{[]Param{a, u, b}, []*Expr{{Op: Ne, Args: []*Expr{number(0), number(2)}}}, nil, "[1 2 3 4]"},
		{[]Param{a, u, b}, []*Expr{{Op: Gt, Args: []*Expr{number(0), number(1)}}}, nil, "[0 1 2 3 4 5]"},
		{[]Param{a, child}, nil, nil, "[0 1 2 3]"},
		{[]Param{a, child}, nil, Point{1, 2}, "[3]"},
		{[]Param{a, child}, nil, Point{0, 2}, "[2]"},
		{[]Param{a, u, open}, nil, nil, "[0 1 2 3 4 5]"},
		{[]Param{a, gone, open}, nil, nil, "[0 3]"},
		{[]Param{a, b}, []*Expr{{Op: Const}}, nil, "[]"},
	} {
		s := &Space{Params: c.params, Constraints: c.constraints}
		cells, ok := s.Cells(c.given, 100)
		if got := fmt.Sprint(cells); !ok || got != c.want {
			t.Errorf("%d: %s %v, want %s", i, got, ok, c.want)
		}
	}
	if _, ok := (&Space{Params: []Param{a, b}}).Cells(nil, 8); ok {
		t.Error("the limit of steps is not kept")
	}
}
