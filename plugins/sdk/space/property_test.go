package space

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Sampled points lie in the space, and the same seed gives the same points (B-102).
func TestSamplesAreInTheSpace(t *testing.T) {
	for _, form := range formNames {
		t.Run(form, rapid.MakeCheck(func(t *rapid.T) {
			p := forms[form](t)
			p.Name = "x"
			s := &Space{Params: []Param{p}}
			if err := s.Validate(); err != nil {
				t.Fatal(err)
			}
			seed := rapid.Uint64().Draw(t, "seed")
			x, _ := s.Sample(NewRand(seed))
			again, _ := s.Sample(NewRand(seed))
			if err := s.Check(x); err != nil || !same(x, again) {
				t.Fatalf("%v, then %v: %v", x, again, err)
			}
		}))
	}
}

// The same holds with conditions (B-106), and pruning changes nothing more.
func TestConditionalSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t, formNames...)
		p, err := s.Sample(NewRand(rapid.Uint64().Draw(t, "seed")))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(p); err != nil {
			t.Fatal(err)
		}
		pruned := append(Point{}, p...)
		if s.Prune(pruned); !same(p, pruned) {
			t.Fatalf("pruning %v gave %v", p, pruned)
		}
	})
}

func TestPruneIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t, formNames...)
		once := s.Draw(NewRand(rapid.Uint64().Draw(t, "seed")))
		s.Prune(once)
		twice := append(Point{}, once...)
		if s.Prune(twice); !same(once, twice) {
			t.Fatalf("once %v, twice %v", once, twice)
		}
	})
}

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t, formNames...)
		p, err := s.Sample(NewRand(rapid.Uint64().Draw(t, "seed")))
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.Decode(p)
		if err != nil {
			t.Fatal(err)
		}
		back, err := s.Encode(text)
		if err != nil || !same(p, back) {
			t.Fatalf("%v became %s and then %v: %v", p, text, back, err)
		}
	})
}

// Quantised values lie in the space and do not change again; values of the unit cube are mapped
// back to themselves.
func TestUnitRoundTrip(t *testing.T) {
	for _, form := range formNames {
		t.Run(form, rapid.MakeCheck(func(t *rapid.T) {
			p := forms[form](t)
			s := &Space{Params: []Param{p}}
			x := s.Quantise(0, rapid.Float64Range(-1e7, 1e7).Draw(t, "x"))
			if s.Check(Point{x}) != nil || s.Quantise(0, x) != x {
				t.Fatalf("quantised: %v, then %v: %v", x, s.Quantise(0, x), s.Check(Point{x}))
			}
			x = s.FromUnit(0, rapid.Float64Range(0, 1).Draw(t, "u"))
			u := s.ToUnit(0, x)
			if back := s.FromUnit(0, u); !(u >= 0 && u <= 1) || !roundTrips(p, x, back) {
				t.Fatalf("%v is at %v, where %v is", x, u, back)
			}
		}))
	}
}

// roundTrips: exactly for few values, approximately for very many, and roughly where the unit
// interval has fewer numbers than the range (far from the mean, near 0).
func roundTrips(p Param, x, back float64) bool {
	if l, ok := p.lattice(); ok && l.count() < 1e6 {
		return x == back
	}
	scale := math.Abs(x) + p.SD + p.Step
	if !p.Log {
		scale += p.High - p.Low
	}
	return math.Abs(x-back) <= 1e-9*scale || p.Kind == Normal && math.Abs(x-p.Mean) > 5*p.SD
}

// naive evaluates according to the comments of Op: every argument first.
func naive(s *Space, e *Expr, p Point) float64 {
	var args []float64
	unknown := false
	for _, arg := range e.Args {
		args = append(args, naive(s, arg, p))
		unknown = unknown || math.IsNaN(args[len(args)-1])
	}
	has := func(x float64) bool {
		for _, arg := range args {
			if arg == x {
				return true
			}
		}
		return false
	}
	bit := map[bool]float64{true: 1}
	switch {
	case e.Op == Const:
		return e.Number
	case e.Op == Number && s.Params[e.Param].Choices != nil && !math.IsNaN(p[e.Param]):
		values := map[string]float64{"3": 3, "3.0": 3, "-1.5e3": -1500}
		if x, ok := values[string(s.Params[e.Param].Choices[int(p[e.Param])])]; ok {
			return x
		}
		return math.NaN()
	case e.Op == Number:
		return p[e.Param]
	case e.Op == In && math.IsNaN(p[e.Param]):
		return math.NaN()
	case e.Op == In:
		return bit[p[e.Param] == float64(e.Set[0]) || p[e.Param] == float64(e.Set[1])]
	case e.Op == And && has(0), e.Op == Or && !has(1) && !unknown:
		return 0
	case e.Op == Or && has(1), e.Op == And && !unknown:
		return 1
	case e.Op == If && args[0] == 1:
		return args[1]
	case e.Op == If && !math.IsNaN(args[0]):
		return args[2]
	case unknown:
		return math.NaN()
	}
	a := args[0]
	if e.Op == Neg || e.Op == Not {
		return map[Op]float64{Neg: -a, Not: 1 - a}[e.Op]
	}
	b := args[1]
	if b == 0 && (e.Op == Div || e.Op == IntDiv || e.Op == Mod) {
		return math.NaN()
	}
	return map[Op]float64{Add: a + b, Sub: a - b, Mul: a * b, Div: a / b, IntDiv: math.Trunc(a / b),
		Mod: math.Mod(a, b),
		Lt:  bit[a < b], Le: bit[a <= b], Gt: bit[a > b], Ge: bit[a >= b], Eq: bit[a == b], Ne: bit[a != b]}[e.Op]
}

func TestEvalAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t, formNames...)
		p, _ := s.Sample(NewRand(rapid.Uint64().Draw(t, "seed")))
		e := drawExpr(t, s, 4)
		if got, want := e.Eval(s, p), naive(s, e, p); !same(Point{got}, Point{want}) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// A value that is decided while parameters are unknown does not change when they are known; walks
// rely on this to skip branches.
func TestEvalIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t, "smallint", "choice")
		full := s.Draw(NewRand(rapid.Uint64().Draw(t, "seed")))
		part := append(Point{}, full...)
		for i := rapid.IntRange(0, len(part)).Draw(t, "known"); i < len(part); i++ {
			part[i] = math.NaN()
		}
		e := drawExpr(t, s, 4)
		if x := e.Eval(s, part); !math.IsNaN(x) && x != e.Eval(s, full) {
			t.Fatalf("%v, and when all is known %v", x, e.Eval(s, full))
		}
	})
}

// Enumeration gives the result of a brute force over all values, in its order.
func TestEnumerationAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t, "smallint", "stepint", "choice", "ordinal", "one real")
		s.Params = s.Params[:min(len(s.Params), 4)]
		if rapid.Bool().Draw(t, "constrained") {
			s.Constraints = []*Expr{drawExpr(t, s, 3)}
		}
		want := bruteForce(s)
		at := 0
		for p := range s.All() {
			if at == len(want) || !same(p, want[at]) {
				t.Fatalf("point %d is %v", at, p)
			}
			at++
		}
		if size, ok := s.Size(1 << 20); at != len(want) || !ok || size != len(want) {
			t.Fatalf("%d points, size %d (%v), want %d", at, size, ok, len(want))
		}
	})
}

// bruteForce combines all values, prunes, and drops duplicates.
func bruteForce(s *Space) (points []Point) {
	crossed := []Point{{}}
	for i := range s.Params {
		axis, _ := s.Axis(i)
		var longer []Point
		for _, p := range crossed {
			for k := range axis.Count {
				longer = append(longer, append(append(Point{}, p...), axis.Value(k)))
			}
		}
		crossed = longer
	}
	seen := map[string]bool{}
	for _, p := range crossed {
		s.Prune(p)
		if key := s.Key(p); s.Holds(p) && !seen[key] {
			seen[key] = true
			points = append(points, p)
		}
	}
	return points
}
