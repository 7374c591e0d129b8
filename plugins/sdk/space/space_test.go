package space

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

var nan = math.NaN()

// nested has conditions three levels deep: adam → decay → rate, and rate → floor.
func nested() *Space {
	return &Space{Params: []Param{
		{Name: "optimizer", Kind: Choice, Choices: raws(`"sgd"`, `"adam"`)},
		{Name: "decay", Kind: Choice, Choices: raws("false", "true"), When: is(0, 1)},
		{Name: "rate", Kind: Int, Low: 1, High: 3, When: is(1, 1)},
		{Name: "floor", Kind: Int, Low: 0, High: 1, When: of(Ge, param(2), num(2))},
	}}
}

// B-106
func TestConditionsThreeDeep(t *testing.T) {
	s := mustValidate(t, nested())
	var got []string
	for p := range s.All() {
		got = append(got, fmt.Sprint(p))
	}
	want := "[0 NaN NaN NaN] [1 0 NaN NaN] [1 1 1 NaN] [1 1 2 0] [1 1 2 1] [1 1 3 0] [1 1 3 1]"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	seen := map[string]bool{}
	for seed := range uint64(300) {
		seen[fmt.Sprint(mustSample(t, s, seed))] = true
	}
	if len(seen) != 7 {
		t.Errorf("samples are %v", seen)
	}
}

// Given parents decide about children, whatever was drawn; given values of parameters that do not
// exist are dropped (B-104, B-106).
func TestSampleGiven(t *testing.T) {
	s := mustValidate(t, nested())
	for seed := range uint64(50) {
		p, err := s.SampleGiven(NewRand(seed), Point{1, 1, 2, nan})
		if err != nil || s.Check(p) != nil || p[2] != 2 || math.IsNaN(p[3]) {
			t.Fatalf("%v: %v, %v", p, err, s.Check(p))
		}
		p, err = s.SampleGiven(NewRand(seed), Point{0, nan, 2, nan})
		if err != nil || !same(p, Point{0, nan, nan, nan}) {
			t.Fatalf("%v: %v", p, err)
		}
	}
}

// Samples of an open parameter stay inside; other values are kept as they are.
func TestOpen(t *testing.T) {
	s := mustValidate(t, &Space{Params: []Param{
		{Name: "lr", Kind: Real, Low: 0.001, High: 0.2, Log: true, Open: true},
		{Name: "n", Kind: Int, Low: 1, High: 4, Log: true, Step: 2, Open: true},
	}})
	told := mustValidate(t, &Space{Params: slices.Clone(s.Params)}) // as plugins are
	for i := range told.Params {
		told.Params[i].Open = false
	}
	for _, p := range []Point{{0.2124, 7}, {-3, -1}, {1e9, 0}} {
		text, err := s.Decode(p)
		if err != nil || s.Check(p) != nil {
			t.Fatalf("%v: %v, %v", p, err, s.Check(p))
		}
		if back, err := s.Encode(text); err != nil || !same(back, p) {
			t.Errorf("%v is %s, and then %v, %v", p, text, back, err)
		}
		for i, x := range p {
			want := 1.0
			if x < 1 && i == 1 || x < 0 {
				want = 0
			}
			if u, its := s.ToUnit(i, x), told.ToUnit(i, x); u != want || its != want {
				t.Errorf("%v is at %v, for plugins at %v, want %v", x, u, its, want)
			}
		}
	}
	for seed := range uint64(100) {
		if p := mustSample(t, s, seed); p[0] < 0.001 || p[0] > 0.2 || p[1] != 2 && p[1] != 4 {
			t.Fatal(p)
		}
	}
	for want, p := range map[string]Point{"any finite number": {math.Inf(1), 2}, "any integer": {1, 2.5}} {
		if err := s.Check(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", p, err)
		}
	}
}

func TestConstraints(t *testing.T) {
	s := mustValidate(t, &Space{
		Params:      []Param{{Name: "a", Kind: Int, Low: 0, High: 9}, {Name: "b", Kind: Int, Low: 0, High: 9}},
		Constraints: []*Expr{of(Lt, param(0), param(1)), of(Eq, of(Mod, param(1), num(2)), num(0))},
	})
	if size, ok := s.Size(100); size != 20 || !ok { // b = 2, 4, 6, 8: 2+4+6+8
		t.Errorf("size %d, %v", size, ok)
	}
	for seed := range uint64(50) {
		if p := mustSample(t, s, seed); !s.Holds(p) || s.Check(p) != nil {
			t.Fatal(p)
		}
	}
	s.Constraints = append(s.Constraints, of(Gt, param(0), num(100)))
	if _, err := s.Sample(NewRand(1)); !errors.Is(err, ErrTight) {
		t.Errorf("error %v", err)
	}
	if size, ok := s.Size(100); size != 0 || !ok {
		t.Errorf("size %d, %v", size, ok)
	}
}

func TestSizeGivesUp(t *testing.T) {
	wide := Param{Kind: Int, Low: -maxExact, High: maxExact}
	for name, s := range map[string]*Space{
		"real":       {Params: []Param{{Kind: Real, High: 1}}},
		"normal":     {Params: []Param{{Kind: Normal, SD: 1, Step: 1}}},
		"large":      {Params: []Param{wide, wide}},
		"impossible": {Params: []Param{wide, wide}, Constraints: []*Expr{of(Ne, param(0), param(0))}},
	} {
		if size, ok := s.Size(1000); ok {
			t.Errorf("%s: size %d", name, size)
		}
	}
	if size, ok := (&Space{}).Size(1); size != 1 || !ok {
		t.Errorf("the empty space has %d points (%v); the empty point is one", size, ok)
	}
}

func TestFiveHundredParameters(t *testing.T) {
	s := &Space{}
	for i := range 500 {
		p := mixed().Params[i%10]
		p.Name = fmt.Sprintf("layer%d/%s", i, p.Name)
		if i > 0 {
			p.When = of(Ne, param(i-1), num(-1))
		}
		s.Params = append(s.Params, p)
	}
	mustValidate(t, s)
	p := mustSample(t, s, 3)
	text, err := s.Decode(p)
	if err != nil || s.Check(p) != nil {
		t.Fatal(err, s.Check(p))
	}
	if back, err := s.Encode(text); err != nil || !same(p, back) {
		t.Error(err)
	}
}

// B-107: the error is one line with the parameter, its value and what is allowed.
func TestCheckMessages(t *testing.T) {
	s := mustValidate(t, &Space{Params: []Param{
		{Name: "lr", Kind: Real, Low: 0.001, High: 1},
		{Name: "units", Kind: Int, Low: 8, High: 64, Step: 8},
		{Name: "opt", Kind: Choice, Choices: raws(`"a"`, `"b"`)},
		{Name: "m", Kind: Normal, SD: 1, Step: 0.5, When: is(2, 1)},
	}})
	for _, c := range []struct {
		p    Point
		want string
	}{
		{Point{0.5, 16, 0, nan}, ""},
		{Point{0.5, 16, 1, 1.5}, ""},
		{Point{0.5, 16, 1, 0.5000000000000002}, ""},
		{Point{0.5}, "the point has length 1; allowed: 4, one for each parameter of the space"},
		{Point{2, 16, 0, nan}, `parameter "lr" is 2; allowed: numbers from 0.001 to 1`},
		{Point{math.Inf(1), 16, 0, nan}, `parameter "lr" is +Inf; allowed: numbers from 0.001 to 1`},
		{Point{nan, 16, 0, nan}, `parameter "lr" has no value; allowed: numbers from 0.001 to 1`},
		{Point{1, 17, 0, nan}, `parameter "units" is 17; allowed: integers from 8 to 64, multiples of 8`},
		{Point{1, 16 + 1e-12, 0, nan}, `parameter "units" is 16.000000000001; allowed: integers from 8 to 64, ` +
			`multiples of 8`},
		{Point{1, 72, 0, nan}, `parameter "units" is 72; allowed: integers from 8 to 64, multiples of 8`},
		{Point{1, 16, 2, nan}, `parameter "opt" is 2; allowed: an index from 0 to 1`},
		{Point{1, 16, 0.5, nan}, `parameter "opt" is 0.5; allowed: an index from 0 to 1`},
		{Point{1, 16, math.Inf(-1), nan}, `parameter "opt" is -Inf; allowed: an index from 0 to 1`},
		{Point{1, 16, 0, 1}, `parameter "m" is 1; allowed: no value, because its condition does not hold`},
		{Point{1, 16, 1, nan}, `parameter "m" has no value; allowed: any finite number, multiples of 0.5`},
		{Point{1, 16, 1, 0.7}, `parameter "m" is 0.7; allowed: any finite number, multiples of 0.5`},
	} {
		if got := message(s.Check(c.p)); got != c.want {
			t.Errorf("%v\ngot  %s\nwant %s", c.p, got, c.want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestChecksGiven(t *testing.T) {
	s := mustValidate(t, nested())
	for text, p := range map[string]Point{
		"":      nil,
		"the g": {1},
		`parameter "rate" is 9; allowed: integers from 1 to 3`: {nan, nan, 9, nan},
	} {
		if got := message(s.CheckGiven(p)); !strings.HasPrefix(got, text) || text == "" && got != "" {
			t.Errorf("%v: %q", p, got)
		}
	}
	if err := s.CheckGiven(Point{nan, nan, 2, nan}); err != nil {
		t.Error(err)
	}
}

func TestValuesAsPeopleWriteThem(t *testing.T) {
	s := &Space{Params: []Param{{Kind: Real, Low: 0, High: 1, Step: 0.1}, {Kind: Real, Low: -1, High: 1, Step: 0.07},
		{Kind: Real, High: 3, Step: 1.0 / 3}}}
	for i, c := range []struct{ x, want float64 }{{0.31, 0.3}, {0.2, 0.21}, {1, 1}} {
		if got := s.Quantise(i, c.x); got != c.want {
			t.Errorf("%v: got %v, want %v", c.x, got, c.want)
		}
	}
	if x := s.Quantise(0, -5); x != 0 || math.Signbit(x) {
		t.Error(x)
	}
	if s.Key(Point{0.30000000000000004, 0, nan}) != s.Key(Point{0.3, math.Copysign(0, -1),
		math.Float64frombits(0x7ff8000000000002)}) {
		t.Error("keys differ by rounding")
	}
	if s.Key(Point{0.3, 0, nan}) == s.Key(Point{0.4, 0, nan}) {
		t.Error("keys are the same")
	}
}

// Expressions must not panic for any point: points of plugins are checked with them.
func TestInvalidEval(t *testing.T) {
	s := mustValidate(t, &Space{Params: []Param{{Name: "c", Kind: Choice, Choices: raws("1", `"x"`)}}})
	for _, x := range []float64{nan, -1, 2, 1e300, math.Inf(1), math.Inf(-1), 1} {
		if y := param(0).Eval(s, Point{x}); !math.IsNaN(y) {
			t.Errorf("%v counts as %v", x, y)
		}
	}
}
