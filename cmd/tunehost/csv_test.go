package main

import "testing"

// TestCSVValue: a text of a trial is no formula in a spreadsheet, and numbers stay numbers.
func TestCSVValue(t *testing.T) {
	for want, v := range map[string]any{"'=1+2": "=1+2", "-0.5": -0.5, "-3": "-3", "'@x": "@x", "[-1]": []any{-1}} {
		if got := csvValue(v, true); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
