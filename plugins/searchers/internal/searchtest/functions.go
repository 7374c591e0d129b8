// Package searchtest has test problems for searchers, and runs searchers without a host.
package searchtest

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Reals returns a space of n parameters between low and high.
func Reals(n int, low, high float64) *space.Space {
	s := &space.Space{}
	for i := range n {
		s.Params = append(s.Params, space.Param{Name: fmt.Sprint("x", i), Kind: space.Real, Low: low, High: high})
	}
	return s
}

// Raws returns values of a choice, as JSON.
func Raws(texts ...string) (raw [][]byte) {
	for _, text := range texts {
		raw = append(raw, []byte(text))
	}
	return raw
}

// Branin is the function on the unit square; its minimum is 0.397887.
func Branin(p space.Point) float64 {
	x, y := 15*p[0]-5, 15*p[1]
	a := y - 5.1/(4*math.Pi*math.Pi)*x*x + 5/math.Pi*x - 6
	return a*a + 10*(1-1/(8*math.Pi))*math.Cos(x) + 10
}

// Hartmann6 is the function on the unit cube of 6 parameters; its minimum is -3.32237.
func Hartmann6(p space.Point) float64 {
	a := [4][6]float64{{10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8},
		{17, 8, 0.05, 10, 0.1, 14}}
	q := [4][6]float64{{1312, 1696, 5569, 124, 8283, 5886}, {2329, 4135, 8307, 3736, 1004, 9991},
		{2348, 1451, 3522, 2883, 3047, 6650}, {4047, 8828, 8732, 5743, 1091, 381}}
	sum := 0.0
	for i, c := range []float64{1, 1.2, 3, 3.2} {
		e := 0.0
		for j := range 6 {
			d := p[j] - q[i][j]/10000
			e += a[i][j] * d * d
		}
		sum -= c * math.Exp(-e)
	}
	return sum
}

// EveryForm returns a space with one parameter of each form.
func EveryForm() *space.Space {
	return &space.Space{Params: []space.Param{
		{Name: "real", Kind: space.Real, Low: -3, High: 5},
		{Name: "log", Kind: space.Real, Low: 1e-6, High: 1, Log: true},
		{Name: "step", Kind: space.Real, Low: 0, High: 2, Step: 0.1},
		{Name: "logstep", Kind: space.Real, Low: 0.5, High: 64, Step: 0.5, Log: true},
		{Name: "int", Kind: space.Int, Low: -10, High: 30},
		{Name: "logint", Kind: space.Int, Low: 1, High: 1024, Log: true},
		{Name: "intstep", Kind: space.Int, Low: 8, High: 256, Step: 8},
		{Name: "normal", Kind: space.Normal, Mean: 10, SD: 2},
		{Name: "normalstep", Kind: space.Normal, SD: 1, Step: 0.25},
		{Name: "choice", Kind: space.Choice, Choices: Raws(`"a"`, `"b"`, `"c"`, `"d"`)},
		{Name: "ordinal", Kind: space.Ordinal, Choices: Raws("1", "2", "4", "8", "16")},
		{Name: "single", Kind: space.Real, Low: 7, High: 7},
	}}
}

// EveryFormLoss is 0 at one point, and about 1 for each parameter at its ends.
func EveryFormLoss(p space.Point) float64 {
	target := []float64{4, -8, 0.3, 0, 25, 7, 200, 14, -2, 2, 3}
	scale := []float64{8, 14, 2, 5, 40, 7, 248, 8, 4, 1, 4}
	at := slices.Clone(p)
	at[1], at[3], at[5] = math.Log(p[1]), math.Log2(p[3]), math.Log2(p[5])
	sum := 0.0
	for i := range target {
		d := (at[i] - target[i]) / scale[i]
		if i == 9 {
			d = min(1, math.Abs(d))
		}
		sum += d * d
	}
	return sum
}

// Mixed returns a space of n parameters: reals, logarithms, integers, choices.
func Mixed(n int) *space.Space {
	s := &space.Space{}
	for i := range n {
		p := space.Param{Name: fmt.Sprint("p", i), Kind: space.Real, Low: 1e-5, High: 1}
		switch i % 4 {
		case 1:
			p.Log = true
		case 2:
			p.Kind, p.Low, p.High = space.Int, 1, 1000
		case 3:
			p.Kind, p.Choices = space.Choice, Raws("1", "2", "3")
		}
		s.Params = append(s.Params, p)
	}
	return s
}

// Tree returns a space with a root choice of four branches, each with three parameters, one of
// which has another choice.
func Tree() *space.Space {
	s := &space.Space{Params: []space.Param{{Name: "kind", Kind: space.Choice,
		Choices: Raws(`"a"`, `"b"`, `"c"`, `"d"`)}, {Name: "shared", Kind: space.Real, High: 1}}}
	for branch := range 4 {
		when := &space.Expr{Op: space.In, Param: 0, Set: []int{branch}}
		for i := range 3 {
			s.Params = append(s.Params, space.Param{Name: fmt.Sprint("x", branch, i), Kind: space.Real, High: 1,
				When: when})
		}
	}
	deep := space.Param{Name: "deep", Kind: space.Choice, Choices: Raws("1", "2"),
		When: &space.Expr{Op: space.In, Param: 0, Set: []int{2}}}
	s.Params = append(s.Params, deep)
	deeper := space.Param{Name: "deeper", Kind: space.Int, High: 100,
		When: &space.Expr{Op: space.In, Param: len(s.Params) - 1, Set: []int{1}}}
	s.Params = append(s.Params, deeper)
	return s
}

// TreeLoss is 0 in branch c, at a point that also depends on the shared parameter; branch a looks
// good at first, but its minimum is 0.15.
func TreeLoss(p space.Point) float64 {
	base := []float64{0.15, 0.4, 0, 0.3}[int(p[0])]
	sum := base + math.Abs(p[1]-0.3)/4
	for i := range 3 {
		d := p[2+3*int(p[0])+i] - 0.2 - 0.6*p[1]
		sum += d * d
	}
	if p[0] == 2 {
		sum += 0.2
		if p[14] == 1 {
			sum += math.Abs(p[15]-70)/200 - 0.2
		}
	}
	return sum
}
