package points

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A clone keeps the random values of its donor, except those that depend on what was changed, directly or through
// others.
func TestChangedKeepsRandomValues(t *testing.T) {
	e := experiment(t, "space: {lr: {uniform: [0, 1]}, b: {uniform: [0, 1]}, k: {value: 2}, "+
		"d: {sample: 'k * uniform(0, 1)'}, e: {sample: 'lr * uniform(1, 2)'}, f: {sample: 'e + uniform(0, 1)'}, "+
		"g: {sample: 'd + b'}, h: {sample: 'uniform(0, 1)', when: 'b > 0.5'}, i: {sample: 'uniform(0, 1)', "+
		"when: 'lr > 0.1'}}", config.Reading)
	donor, err := Complete(e, 1, 0, space.Point{0.2, 0.7})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		point space.Point
		other string // the values that differ
	}{
		{space.Point{0.2, 0.7}, ""},
		{space.Point{0.2, 0.8}, "bgh"},
		{space.Point{0.2, 0.3}, "bgh"},
		{space.Point{0.4, 0.7}, "efilr"},
	} {
		g, err := Changed(e, 1, 5, c.point, donor.Params)
		if err != nil {
			t.Fatal(err)
		}
		if other := differing(t, donor.Params, g.Params); other != c.other {
			t.Errorf("%v: %q differ, want %q, of %s and %s", c.point, other, c.other, donor.Params, g.Params)
		}
	}
}

// differing joins the names of the values that differ.
func differing(t *testing.T, a, b []byte) (names string) {
	t.Helper()
	var x, y map[string]float64
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b", "d", "e", "f", "g", "h", "i", "k", "lr"} {
		if fmt.Sprint(x[name]) != fmt.Sprint(y[name]) {
			names += name
		}
	}
	return names
}

// A value that the clone keeps and a constraint no longer allows is refused, not replaced.
func TestChangedWithinConstraints(t *testing.T) {
	e := experiment(t, "space: {u: {uniform: [0, 1]}, d: {sample: 'uniform(0, 1)'}}\nconstraints: ['d > u']",
		config.Reading)
	donor, err := Complete(e, 1, 0, space.Point{0.1})
	if err != nil {
		t.Fatal(err)
	}
	if g, err := Changed(e, 1, 5, space.Point{0.999999}, donor.Params); err == nil {
		t.Errorf("%s of %s", g.Params, donor.Params)
	} else {
		t.Log(err)
	}
}

// A trial that takes over another's checkpoint with other parameters has the other's random values, except those that
// depend on what changed, which differ from trial to trial. In records of earlier readings all were drawn, in the same
// way each time.
func TestExploitedKeepsRandomValues(t *testing.T) {
	const text = "space: {lr: {uniform: [0, 1]}, b: {uniform: [0, 1]}, d: {sample: 'uniform(0, 1)'}, " +
		"e: {sample: 'lr * uniform(1, 2)'}}"
	e := experiment(t, text, config.Reading)
	donor, err := Complete(e, 1, 0, space.Point{0.2, 0.7})
	if err != nil {
		t.Fatal(err)
	}
	exploited := func(e *config.Experiment, x Exploit) []byte {
		x.Point, x.Donor = space.Point{0.4, 0.7}, donor.Params
		params, err := Exploited(e, 1, x)
		if err != nil {
			t.Fatal(err)
		}
		return params
	}
	first := exploited(e, Exploit{Trial: 1, Through: 9})
	for _, c := range []struct {
		params []byte
		from   []byte
		other  string
	}{
		{first, donor.Params, "elr"},
		{exploited(e, Exploit{Trial: 2, Through: 9}), first, "e"},
		{exploited(e, Exploit{Trial: 1, Through: 10}), first, "e"},
		{exploited(e, Exploit{Trial: 1, Through: 9}), first, ""},
	} {
		if other := differing(t, c.from, c.params); other != c.other {
			t.Errorf("%q differ, want %q, of %s and %s", other, c.other, c.from, c.params)
		}
	}
	before := experiment(t, text, config.Reading-1)
	one, other := exploited(before, Exploit{Trial: 1, Through: 9}), exploited(before, Exploit{Trial: 2, Through: 10})
	if differing(t, donor.Params, one) != "delr" || differing(t, one, other) != "" {
		t.Errorf("by the earlier reading %s and %s of %s", one, other, donor.Params)
	}
}

// Where a constraint refuses the donor's random values, all are drawn: the scheduler cannot know of it.
func TestExploitedWithinConstraints(t *testing.T) {
	e := experiment(t, "space: {u: {uniform: [0, 1]}, d: {sample: 'uniform(0, 1)'}}\nconstraints: ['d > u']",
		config.Reading)
	params, err := Exploited(e, 1, Exploit{Point: space.Point{0.5}, Donor: []byte(`{"u": 0.1, "d": 0.3}`)})
	var got struct{ U, D float64 }
	if err = errors.Join(err, json.Unmarshal(params, &got)); err != nil || got.D <= got.U || got.U != 0.5 {
		t.Errorf("%s, %v", params, err)
	}
}
