package space

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// forms draws a parameter of each form.
var forms = map[string]func(t *rapid.T) Param{
	"real": func(t *rapid.T) Param { return bounded(t, Param{Kind: Real}, rapid.Float64Range(-1e6, 1e6)) },
	"log": func(t *rapid.T) Param {
		return bounded(t, Param{Kind: Real, Log: true}, rapid.Float64Range(1e-300, 1e300))
	},
	"stepped": func(t *rapid.T) Param { return stepped(t, Param{Kind: Real}, -50) },
	"logstep": func(t *rapid.T) Param { return stepped(t, Param{Kind: Real, Log: true}, 1) },
	"int":     func(t *rapid.T) Param { return whole(t, Param{Kind: Int}, -maxExact) },
	"logint":  func(t *rapid.T) Param { return whole(t, Param{Kind: Int, Log: true}, 1) },
	"smallint": func(t *rapid.T) Param {
		low := float64(rapid.IntRange(-5, 5).Draw(t, "low"))
		return Param{Kind: Int, Low: low, High: low + 3}
	},
	"stepint": func(t *rapid.T) Param {
		return Param{Kind: Int, Low: -7, High: 22, Step: float64(rapid.IntRange(1, 20).Draw(t, "step"))}
	},
	"normal": func(t *rapid.T) Param {
		return Param{Kind: Normal, Mean: rapid.Float64Range(-1e9, 1e9).Draw(t, "mean"),
			SD: rapid.Float64Range(1e-9, 1e9).Draw(t, "sd")}
	},
	"normstep": func(t *rapid.T) Param { return Param{Kind: Normal, Mean: 3, SD: 10, Step: decimal(t)} },
	"choice":   func(t *rapid.T) Param { return Param{Kind: Choice, Choices: choices(t)} },
	"ordinal":  func(t *rapid.T) Param { return Param{Kind: Ordinal, Choices: choices(t)} },
	"grid":     func(t *rapid.T) Param { return Param{Kind: Choice, Grid: true, Choices: choices(t)} },
	"one real": func(t *rapid.T) Param { return Param{Kind: Real, Low: 0.25, High: 0.25} },
	"one log":  func(t *rapid.T) Param { return Param{Kind: Int, Low: 3, High: 3, Log: true} },
	"near zero": func(t *rapid.T) Param {
		return Param{Kind: Real, Low: math.SmallestNonzeroFloat64, High: 1,
			Log: true}
	},
}

// formNames are the forms in a fixed order.
var formNames = slices.Sorted(maps.Keys(forms))

func bounded(t *rapid.T, p Param, values *rapid.Generator[float64]) Param {
	a, b := values.Draw(t, "a"), values.Draw(t, "b")
	p.Low, p.High = math.Min(a, b), math.Max(a, b)
	return p
}

func decimal(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{0.1, 0.3, 0.25, 0.07, 1e-3, 1.0 / 3, 1, 2.5}).Draw(t, "step")
}

func stepped(t *rapid.T, p Param, least int) Param {
	p.Step = decimal(t)
	p.Low = p.Step * (float64(rapid.IntRange(least, 60).Draw(t, "from")) + rapid.Float64Range(0, 0.9).Draw(t, "beyond"))
	p.High = p.Low + p.Step*rapid.Float64Range(1, 40).Draw(t, "steps")
	return p
}

func whole(t *rapid.T, p Param, least int64) Param {
	a, b := rapid.Int64Range(least, maxExact).Draw(t, "a"), rapid.Int64Range(least, maxExact).Draw(t, "b")
	p.Low, p.High = float64(min(a, b)), float64(max(a, b))
	return p
}

func choices(t *rapid.T) [][]byte {
	all := []string{`"sgd"`, `3`, `3.0`, `null`, `{"a": [1, 2]}`, `-1.5e3`, `true`, `"a/b\n"`, `[]`}
	n := rapid.IntRange(1, len(all)).Draw(t, "choices")
	var raw [][]byte
	for _, text := range all[:n] {
		raw = append(raw, []byte(text))
	}
	return raw
}

// drawSpace draws a space of several parameters, some of them conditional.
func drawSpace(t *rapid.T, names ...string) *Space {
	s := &Space{}
	for i := range rapid.IntRange(1, 6).Draw(t, "params") {
		form := rapid.SampledFrom(names).Draw(t, "form")
		p := forms[form](t)
		p.Name = fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"", "g/", "g/h/", "k/"}).Draw(t, "group"), i)
		if i > 0 && rapid.Bool().Draw(t, "conditional") {
			p.When = drawExpr(t, s, 3)
		}
		s.Params = append(s.Params, p)
	}
	if err := s.Validate(); err != nil {
		t.Fatalf("the generated space is invalid: %v", err)
	}
	return s
}

// drawExpr draws an expression over the parameters of s.
func drawExpr(t *rapid.T, s *Space, depth int) *Expr {
	op := Op(rapid.IntRange(int(Const), int(If)).Draw(t, "op"))
	if depth == 0 && op > In {
		op = Number
	}
	i := rapid.IntRange(0, len(s.Params)-1).Draw(t, "param")
	if op == In && s.Params[i].Choices == nil {
		op = Number
	}
	e := &Expr{Op: op}
	switch op {
	case Const:
		e.Number = rapid.SampledFrom([]float64{0, 1, 0.5, 3, -7}).Draw(t, "number")
	case Number:
		e.Param = i
	case In:
		e.Param, e.Set = i, []int{0, len(s.Params[i].Choices) - 1}
	default:
		low, high := arity(op)
		for range rapid.IntRange(low, min(high, 3)).Draw(t, "arguments") {
			e.Args = append(e.Args, drawExpr(t, s, depth-1))
		}
	}
	return e
}

func mustValidate(t testing.TB, s *Space) *Space {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

func mustSample(t testing.TB, s *Space, seed uint64) Point {
	t.Helper()
	p, err := s.Sample(NewRand(seed))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// same compares points; NaN equals itself.
func same(a, b Point) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return false
		}
	}
	return true
}

func raws(texts ...string) [][]byte {
	var raw [][]byte
	for _, text := range texts {
		raw = append(raw, []byte(text))
	}
	return raw
}

// is returns the condition that choice i has its k-th value.
func is(i, k int) *Expr { return &Expr{Op: In, Param: i, Set: []int{k}} }

func of(op Op, args ...*Expr) *Expr { return &Expr{Op: op, Args: args} }

func num(x float64) *Expr { return &Expr{Op: Const, Number: x} }

func param(i int) *Expr { return &Expr{Op: Number, Param: i} }
