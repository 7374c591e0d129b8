package python_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/vectors.json anew")

// vectors are spaces, and results of the Go package for points in them. tests/test_space.py checks
// that the Python package gives the same results.
type vectors struct {
	Rand   []number // NewRand(42)
	Spaces []vector
	Bad    []badPoint
}

type vector struct {
	Name        string
	Params      []param
	Constraints []*space.Expr `json:",omitempty"`
	Units       []unit
	Samples     [][]number // for the seeds 0, 1, …; null if none was found
	Given       []number
	Completed   [][]number // as Samples, with the given values
	Evals       []eval
	Size        int // at most 1000; -1: not finite, or too many
	All         [][]number
}

type param struct {
	Name                      string
	Kind                      space.Kind
	Low, High, Step, Mean, SD number
	Log                       bool
	Choices                   []json.RawMessage
	When                      *space.Expr `json:",omitempty"`
}

// unit is a place, the value there, and the place of the value; and the value nearest to another
// one.
type unit struct {
	Param                    int
	U, Value, Back, Near, To number
}

type eval struct {
	Expr  *space.Expr
	Point []number
	Value number
}

type badPoint struct {
	Point []number
	Says  string
}

// number is a float64 that JSON preserves exactly, including NaN and infinities.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if x := float64(n); math.IsNaN(x) || math.IsInf(x, 0) {
		return json.Marshal(map[bool]string{true: "nan", false: fmt.Sprintf("%+v", x)}[math.IsNaN(x)])
	}
	return json.Marshal(float64(n))
}

func numbers(p space.Point) (list []number) {
	for _, x := range p {
		list = append(list, number(x))
	}
	return list
}

func op(o space.Op, args ...*space.Expr) *space.Expr { return &space.Expr{Op: o, Args: args} }

func of(param int) *space.Expr { return &space.Expr{Op: space.Number, Param: param} }

func is(param int, set ...int) *space.Expr {
	return &space.Expr{Op: space.In, Param: param, Set: set}
}

func num(x float64) *space.Expr { return &space.Expr{Op: space.Const, Number: x} }

// spaces are small ones of every form.
func spaces() map[string]*space.Space {
	return map[string]*space.Space{
		"reals": {Params: []space.Param{
			{Name: "plain", Kind: space.Real, Low: -3, High: 5},
			{Name: "log", Kind: space.Real, Low: 1e-5, High: 10, Log: true},
			{Name: "step", Kind: space.Real, Low: 0.1, High: 0.75, Step: 0.1},
			{Name: "third", Kind: space.Real, Low: -1, High: 3, Step: 1.0 / 3},
			{Name: "logstep", Kind: space.Real, Low: 0.1, High: 5, Step: 0.1, Log: true},
			{Name: "one", Kind: space.Real, Low: 0.25, High: 0.25},
			{Name: "tiny", Kind: space.Real, Low: math.SmallestNonzeroFloat64, High: 1, Log: true},
			{Name: "huge", Kind: space.Real, Low: 1, High: math.MaxFloat64, Log: true},
		}},
		"ints": {Params: []space.Param{
			{Name: "plain", Kind: space.Int, Low: -2, High: 3},
			{Name: "log", Kind: space.Int, Low: 1, High: 1024, Log: true},
			{Name: "step", Kind: space.Int, Low: -7, High: 22, Step: 4},
			{Name: "logstep", Kind: space.Int, Low: 4, High: 33, Step: 8, Log: true},
			{Name: "wide", Kind: space.Int, Low: -(1 << 53), High: 1 << 53},
			{Name: "one", Kind: space.Int, Low: 3, High: 3, Log: true},
		}},
		"normals": {Params: []space.Param{
			{Name: "plain", Kind: space.Normal, Mean: 4, SD: 2},
			{Name: "step", Kind: space.Normal, Mean: 10, SD: 3, Step: 0.5},
		}},
		"nested": {Params: []space.Param{
			{Name: "net/optimizer", Kind: space.Choice, Choices: raws(`"sgd"`, `"adam"`)},
			{Name: "net/decay", Kind: space.Choice, Choices: raws("false", "true", "null", `{"a": [1.5]}`),
				When: is(0, 1)},
			{Name: "rate", Kind: space.Int, Low: 1, High: 3, When: is(1, 1, 3)},
			{Name: "floor", Kind: space.Ordinal, Choices: raws("0", "0.5", `"x"`), When: op(space.Ge, of(2), num(2))},
		}},
		"constrained": {
			Params: []space.Param{{Name: "a", Kind: space.Int, Low: 0, High: 9},
				{Name: "b", Kind: space.Int, Low: 0, High: 9}},
			Constraints: []*space.Expr{op(space.Lt, of(0), of(1)), op(space.Eq, op(space.Mod, of(1), num(2)), num(0))},
		},
		"mixed": mixed(),
		"impossible": {Params: []space.Param{{Name: "a", Kind: space.Int, Low: 0, High: 9}},
			Constraints: []*space.Expr{op(space.Gt, of(0), num(100))}},
		"empty": {},
	}
}

var units = []float64{0, 1e-9, 0.1, 0.25, 1.0 / 3, 0.5, 0.66, 0.9, 1 - 0x1p-53, 1, -3, 7}

func unitsOf(s *space.Space) (list []unit) {
	for i := range s.Params {
		for k, u := range units {
			x, to := s.FromUnit(i, u), units[len(units)-1-k]*20-7.3
			list = append(list, unit{i, number(u), number(x), number(s.ToUnit(i, x)), number(s.Quantise(i, to)),
				number(to)})
		}
	}
	return list
}

// evals has all operations on every pair of a few points' values.
func evals(s *space.Space) (list []eval) {
	add := func(e *space.Expr, p space.Point) {
		list = append(list, eval{e, numbers(p), number(e.Eval(s, p))})
	}
	inf := math.Inf(1)
	for _, a := range []float64{nan, 0, 1, -2.5, 7, inf} {
		for _, b := range []float64{nan, 0, 1, 3, -inf} {
			p := space.Point{a, b}
			for o := space.Add; o <= space.Or; o++ {
				add(op(o, of(0), of(1)), p)
			}
			add(op(space.If, of(0), of(1), num(9)), p)
		}
		add(op(space.Neg, of(0)), space.Point{a, 0})
		add(op(space.Not, of(0)), space.Point{a, 0})
	}
	return list
}

func samples(s *space.Space, given space.Point) (list [][]number) {
	for seed := range uint64(8) {
		p, err := s.SampleGiven(space.NewRand(seed), given)
		if err != nil {
			p = nil
		}
		list = append(list, numbers(p))
	}
	return list
}

func vectorOf(t *testing.T, name string, s *space.Space) vector {
	t.Helper()
	for i := range s.Params {
		if s.Params[i].Name == "" {
			t.Fatal(name)
		}
	}
	if err := s.Validate(); err != nil {
		t.Fatal(name, err)
	}
	v := vector{Name: name, Constraints: s.Constraints, Units: unitsOf(s), Samples: samples(s, nil), Size: -1}
	for _, p := range s.Params {
		choices := []json.RawMessage{}
		for _, c := range p.Choices {
			choices = append(choices, c)
		}
		v.Params = append(v.Params, param{p.Name, p.Kind, number(p.Low), number(p.High), number(p.Step), number(p.Mean),
			number(p.SD), p.Log, choices, p.When})
	}
	if len(s.Params) > 1 {
		given := make(space.Point, len(s.Params))
		for i := range given {
			given[i] = nan
		}
		given[1] = s.FromUnit(1, 0.7)
		v.Given, v.Completed = numbers(given), samples(s, given)
	}
	if size, ok := s.Size(1000); ok {
		v.Size = size
		for p := range s.All() {
			v.All = append(v.All, numbers(p))
		}
	}
	return v
}

func dump(t *testing.T) []byte {
	var v vectors
	rng := space.NewRand(42)
	for range 5 {
		v.Rand = append(v.Rand, number(rng.Float64()))
	}
	for _, name := range []string{"reals", "ints", "normals", "nested", "constrained", "mixed", "impossible", "empty"} {
		v.Spaces = append(v.Spaces, vectorOf(t, name, spaces()[name]))
	}
	pair := &space.Space{Params: []space.Param{{Name: "a", Kind: space.Real, High: 1},
		{Name: "b", Kind: space.Real, High: 1}}}
	v.Spaces[0].Evals = evals(pair)
	m := mixed()
	for _, p := range []space.Point{
		{0.5}, {2, 0.1, 16, 1, 0, 0, 0.5}, {0.5, 0.15, 16, 1, 0, 0, 0.5}, {0.5, 0.30000000000000004, 16, 1, 0, 0, 0.5},
		{0.5, 0.1, 16.5, 1, 0, 0, 0.5}, {0.5, 0.1, 16, math.Inf(1), 0, 0, 0.5}, {0.5, 0.1, 16, 1, 2, 0, nan}, {0.5, 0.1,
			16, 1, 1, 0, 0.5},
		{0.5, 0.1, 16, 1, 0, 0, nan}, {nan, 0.1, 16, 1, 1, 0, nan}, {0.5, 0.1, 16, 1, 1, 0.5, nan},
	} {
		says := ""
		if err := m.Check(p); err != nil {
			says = err.Error()
		}
		v.Bad = append(v.Bad, badPoint{numbers(p), says})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The vectors of the Python tests match the current Go package (B-102).
func TestVectors(t *testing.T) {
	const file = "testdata/vectors.json"
	fresh := dump(t)
	if *rewrite {
		if err := os.WriteFile(file, fresh, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(old, fresh) {
		t.Fatalf("%s is not what package space makes (%v): run go test ./plugins/sdk/python -run Vectors -rewrite",
			file, err)
	}
}
