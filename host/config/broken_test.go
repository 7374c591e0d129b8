package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

const inFive = `space:
  a: {grid: [0, 1, 2]}
  b: {choice: [0.0, 0.25, 2.0]}
  i: {int: [-1, 1]}
  c: {int: [0, 1], when: "a < 2"}
  t: {choice: [0, one]}
constraints: [%q]
`

// undefined are constraints of which some values cannot be calculated.
var undefined = []string{
	"10 / a > 3", "10 % a > 3", "10 / a > 100", "!(10 / a > 3)", "a / b >= 1.0", "a / b < 1.0", "!(a / b < 1.0)",
	"a / b < 1.0 || a / b >= 1.0", "a / b < 1.0 && i > 0", "i > 0 || a / b < 1.0", "i > 0 && 10 / c > i",
	"10 / i > c || 10 / a > 3", "i / c > 0", "!(i / c > 0) && b > 1.0", "c / i > 0 || i == 1", "1 / (1 / (i / a)) > 0",
	"(a / b > 1.0) == (i > 0)", "(10 / a > 3) != (10 / i > 3)", "(1 / i > 0 ? a / b : b / a) > 1.0",
	"1 / i > 0 ? 10 / a > 3 : b > 1.0", "(i > 0 ? 1 : 5 / a) > 1", "10 / a in [5, 10]", "sqrt(a - 2) < 0.0",
	"a in [10 / i, 2]", "!(a in [10 / i, 2])", "!(a in [i / c, 2])", "i + a in [c % i, a / i, 1] || i > 0",
	"log(a - 2) > 100.0", "pow(a - 2, 0.5) > 5.0", "!(sqrt(a - 2) >= 0.0)", "!(sqrt(a - 2) >= 0.0) || i > 0",
	"sqrt(a - 2 + i) < 1.0", "sqrt(i - 0.5) < c", "t > 0", "[1, 2].exists(x, x / a > 1)",
}

// The trees that plugins evaluate, and the host, have one meaning of a constraint that divides by zero, or is not a
// number: it is false, and so is its negation, where all its parameters exist; else it holds.
func TestConstraintsWithoutAValue(t *testing.T) {
	for _, source := range undefined {
		e := parse(t, fmt.Sprintf(inFive, source))
		if err := e.Space.Validate(); err != nil {
			t.Errorf("%s: %v", source, err)
		}
		found := 0
		for _, p := range everyPoint(e) {
			v, c := e.Prune(p).values, e.Constraints[0]
			want := errors.Is(e.broken(c, v), ErrRefused)
			if got := !e.Space.Holds(p); got != want && !c.Opaque {
				t.Errorf("%s at %v: the tree says %v, the host %v", source, p, got, want)
			}
			holds, err := c.Program.Bool(v)
			if refused := err == nil && !holds || e.undefined(c, v, err); refused != want {
				t.Errorf("%s at %v: %v, %v", source, p, want, err)
			}
			found += len(e.Undefined(p))
		}
		if found == 0 {
			t.Errorf("%s has a value everywhere", source)
		}
	}
}

// everyPoint lists the points of a finite space, whatever its constraints say.
func everyPoint(e *Experiment) (list []space.Point) {
	free := space.Space{Params: e.Space.Params}
	for p := range free.All() {
		list = append(list, p)
	}
	return list
}

// A condition over a list has one meaning, too: the list has no value where an item has none.
func TestConditionsOverLists(t *testing.T) {
	for _, when := range []string{"1 in [a, c]", "a in [6 / b, 2]", "!(1 in [a, c])", "1 in [a, c] || b > 0"} {
		e := parse(t, "space: {a: {int: [1, 3]}, b: {int: [0, 1]}, c: {int: [1, 3], when: 'a > 1'}, "+
			"q: {int: [0, 1], when: '"+when+"'}}\n")
		for _, p := range everyPoint(e) {
			p[3] = 0
			_, want := e.Prune(slices.Clone(p)).values.Params["q"]
			if got := e.Space.Active(p, 3); got != want {
				t.Errorf("%s at %v: the tree says %v, the host %v", when, p, got, want)
			}
		}
	}
}

// A division by zero makes a constraint false for the searcher, the user's points and other experiments' trials. An
// experiment that began when it held goes on so.
func TestDivisionByZeroIsFalse(t *testing.T) {
	text := "space: {a: {grid: [0, 1, 2]}}\nconstraints: ['10 / a > CONST']\n"
	for limit, want := range map[string]string{"3": "[false true true]", "100": "[false false false]"} {
		e := parse(t, strings.Replace(text, "CONST", limit, 1))
		var got, trials []bool
		for k := range e.Space.Params[0].Choices {
			_, err := e.Resolve(space.Point{float64(k)}, 1)
			got, trials = append(got, e.Space.Holds(space.Point{float64(k)})), append(trials, err == nil)
		}
		if fmt.Sprint(got) != want || fmt.Sprint(trials) != want {
			t.Errorf("%s: %v, %v, want %s", limit, got, trials, want)
		}
	}
	text = strings.Replace(text, "CONST", "3", 1)
	_, err := Parse("x.yaml", []byte(text+"points: [{a: 0}]\n"+base))
	want := "x.yaml:3:10: the point breaks the constraint 10 / a > 3: unknown value (division by zero)"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := parse(t, text).Adopt([]byte(`{"a": 0}`), 1); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
	old, err := Parse("x.yaml", []byte(text+base), Recorded(definedReading-1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Resolve(space.Point{0}, 1); err != nil || !old.Space.Holds(space.Point{0}) {
		t.Errorf("an old record: %v", err)
	}
}

// A constraint may ask first whether a constant is zero. A division by a number that is zero is a mistake.
func TestDivisionByAConstant(t *testing.T) {
	const text = "space: {z: 0, a: {int: [1, 2]}}\nconstraints: ['%s']\n"
	for constraint, holds := range map[string]bool{"z == 0 || 10 / z > 3": true, "z == 0 || a > 10 / z": true,
		"z == 0 || sqrt(z - 1) > a": true, "a > 10 / z": false, "!(a > 10 % z)": false} {
		e := parse(t, fmt.Sprintf(text, constraint))
		_, err := e.Resolve(space.Point{1}, 1)
		valid := e.Space.Validate()
		if (err == nil) != holds || e.Space.Holds(space.Point{1}) != holds || valid != nil {
			t.Errorf("%s: %v, want %t, %v", constraint, err, holds, valid)
		}
		for _, why := range e.Undefined(space.Point{1}) {
			if holds || !strings.Contains(why.Error(), "z is 0") {
				t.Errorf("%s: %v", constraint, why)
			}
		}
	}
	if _, err := Parse("x.yaml", fmt.Appendf(nil, text+base, "a > 10 / 0")); err == nil ||
		!strings.Contains(err.Error(), "x.yaml:2:23: ") {
		t.Error(err)
	}
}

// What takes too long to settle is left to the host, with the same meaning.
func TestSettlingIsLimited(t *testing.T) {
	nested := "10 / a > i"
	for range 20 {
		nested = "((" + nested + ") ? a > i : i > a)"
	}
	e := parse(t, "space: {a: {grid: [0, 1, 2]}, i: {int: [0, 3]}}\nconstraints: ['"+nested+"']\n")
	if !e.Constraints[0].Opaque {
		t.Error("the tree is large")
	}
	if _, err := e.Resolve(space.Point{0, 1}, 1); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
}
