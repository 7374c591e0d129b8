package config

import (
	"math"
	"testing"
)

// A value of a command line is what it would be in the file.
//
// B-007
func TestJSONOf(t *testing.T) {
	for text, want := range map[string]string{
		"1e-3": "1e-3", "1E-3": "1E-3", "1e22": "1e22", "5e-324": "5e-324", ".5": "0.5", "0x10": "16",
		`"1e-3"`:           `"1e-3"`,
		"9007199254740993": "9007199254740993", "yes": `"yes"`, "true": "true", "": "null", ".inf": `"Infinity"`,
		"{a: [1e-3]}": `{"a":[1e-3]}`,
	} {
		if got, err := JSONOf("add", text); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	e := parse(t, "space: {w: {choice: [1e-3, 1e-2, \"1e-3\"]}, k: {int: [1, 100]}}\n")
	for text, want := range map[string]float64{"1e-3": 0, "0.001": 0, "0.01": 1, `"1e-3"`: 2} {
		value, err := JSONOf("add", text)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := e.ParsePoint("add", []byte(`{"w":`+string(value)+`}`)); err != nil || p[0] != want ||
			!math.IsNaN(p[1]) {
			t.Errorf("%s: %v, %v", text, p, err)
		}
	}
}
