package config

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-106
func TestResolve(t *testing.T) {
	e := parse(t, `
space:
  lr: {uniform: [0, 1]}
  o: {choice: [sgd, {name: x, beta: 1.0}]}
  m: {int: [1, 9], when: o == 'sgd'}
  deep: {int: [1, 9], when: m > 5}
  twice: {sample: later * 2}
  later: {sample: lr * 2}
  r: {sample: "randint(1, 1000000)"}
  net: {when: o == 'sgd', kind: mlp, width: {sample: m * 10}}
  epochs: 10
constraints: [twice < 3]
`)
	nan := math.NaN()
	for _, c := range []struct {
		point space.Point
		want  string
		err   error
	}{
		{space.Point{0.5, 0, 6, 3}, `{"deep":3,"epochs":10,"later":1.0,"lr":0.5,"m":6,"net":{"kind":"mlp",` +
			`"width":60},"o":"sgd","r":R,"twice":2.0}`, nil},
		{space.Point{0.5, 0, 2, nan}, `{"epochs":10,"later":1.0,"lr":0.5,"m":2,"net":{"kind":"mlp","width":20},` +
			`"o":"sgd","r":R,"twice":2.0}`, nil},
		{space.Point{0.5, 1, nan, nan}, `{"epochs":10,"later":1.0,"lr":0.5,"o":{"beta":1.0,"name":"x"},"r":R,` +
			`"twice":2.0}`, nil},
		{space.Point{0.5, 0, nan, nan}, "", ErrUnresolved}, // B-108
		{space.Point{1, 1, nan, nan}, "", ErrRefused},
		{space.Point{0.5}, "", errors.New("a point of length 1, expected 4")},
	} {
		got, err := e.Resolve(c.point, 7)
		again, _ := e.Resolve(c.point, 7)
		if string(got) != string(again) {
			t.Errorf("%v: %s, then %s", c.point, got, again)
		}
		if c.err != nil {
			if err == nil || !errors.Is(err, c.err) && err.Error() != c.err.Error() {
				t.Errorf("%v: %v, want %v", c.point, err, c.err)
			}
			continue
		}
		r, _, _ := strings.Cut(strings.SplitAfter(string(got), `"r":`)[1], ",")
		if want := strings.Replace(c.want, "R", r, 1); string(got) != want || err != nil {
			t.Errorf("%v:\n got %s %v\nwant %s", c.point, got, err, want)
		}
	}
	a, _ := e.Resolve(space.Point{0.5, 1, nan, nan}, 1)
	b, _ := e.Resolve(space.Point{0.5, 1, nan, nan}, 2)
	if string(a) == string(b) {
		t.Errorf("two seeds gave the same: %s", a)
	}
}

func TestPruneByOpaqueConditions(t *testing.T) {
	e := parse(t, "space:\n  a: {uniform: [0, 4]}\n  b: {uniform: [0, 1], when: sqrt(a) > 1.0}\n  c: {uniform: [0, "+
		"1], when: b > 0.5}\n")
	if !e.Space.Opaque || e.Space.Params[1].When != nil {
		t.Fatalf("%+v", e.Space)
	}
	p := space.Point{0.5, 0.9, 0.9}
	e.Prune(p)
	if !math.IsNaN(p[1]) || !math.IsNaN(p[2]) {
		t.Errorf("%v", p)
	}
	if got, err := e.Resolve(space.Point{4, 0.9, 0.25}, 1); err != nil || string(got) != `{"a":4.0,"b":0.9,"c":0.25}` {
		t.Errorf("%s, %v", got, err)
	}
}

// B-007, B-104
func TestGiven(t *testing.T) {
	e := parse(t, "space:\n  lr: {uniform: [0, 1]}\n  net: {o: {choice: [1, 2, 3]}}\n  k: 3\n")
	p, err := e.ParsePoint("add", []byte(`{"net": {"o": 2.0}, "k": 3}`))
	if err != nil || !math.IsNaN(p[0]) || p[1] != 1 {
		t.Errorf("%v, %v", p, err)
	}
	for params, want := range map[string]string{
		`{"k": 4}`:        `add:1:7: "k" is constant (3), found the number 4`,
		`{"net/o": 9}`:    `add:1:11: found the number 9 for net/o, expected 1, 2 or 3`,
		`[1]`:             `add:1:1: found a list, expected a map of parameters`,
		`{"lr": 1, `:      `add:1:9: not YAML: could not find flow map content`,
		`{"learning": 1}`: `add:1:2: unknown parameter "learning"`,
	} {
		if _, err := e.ParsePoint("add", []byte(params)); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", params, err, want)
		}
	}
}

// Without a searcher it is auto. A record from before keeps random, and the same file is no change to it.
//
// The space accepts what the parser accepts, also lowered expressions and the user's points.
func TestSpacesAreValid(t *testing.T) {
	for _, file := range []string{"digits.yaml", "full.yaml", "anchors.yaml"} {
		e := load(t, file)
		if err := e.Space.Validate(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, p := range e.Points {
			if err := e.Space.CheckGiven(p.Given); err != nil {
				t.Errorf("%s: %v: %v", file, p.Pos, err)
			}
		}
	}
}

// Of choices that are equal, a point has the one that is written as its value is. Experiments that began before have
// the first one.
func TestPointsAmongEqualChoices(t *testing.T) {
	const text = "space: {g: {choice: [1, 1.0]}, h: {choice: [9007199254740992, 9007199254740993]}}\n" +
		"points: [{g: 1.0, h: 9007199254740993}, {g: 1, h: 9007199254740992}]\n" + base
	for reading, want := range map[int][2]space.Point{Reading: {{1, 1}, {0, 0}}, exactReading - 1: {{0, 0}, {0, 0}}} {
		e, err := Parse("x.yaml", []byte(text), Recorded(reading))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got := e.Points[i].Given; !slices.Equal(got, want[i]) {
				t.Errorf("reading %d, point %d: %v, want %v", reading, i, got, want[i])
			}
		}
	}
	e := parse(t, "space: {g: {choice: [1, 1.0, 2]}}")
	for params, want := range map[string]float64{`{"g":1}`: 0, `{"g":1.0}`: 1, `{"g":2.0}`: 2} {
		if p, err := PointOf(e.Space, []byte(params)); err != nil || p[0] != want {
			t.Errorf("%s: %v, %v, want %g", params, p, err, want)
		}
		if p, err := e.ParsePoint("add", []byte(params)); err != nil || p[0] != want {
			t.Errorf("%s is added as %v, %v, want %g", params, p, err, want)
		}
	}
}
