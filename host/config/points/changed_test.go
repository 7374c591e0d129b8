package points

import (
	"encoding/json"
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
