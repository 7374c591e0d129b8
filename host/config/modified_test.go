package config

import (
	"strings"
	"testing"
)

// A constant with a modifier that constants do not have is read as a group of constants: a warning says so.
func TestModifiedConstants(t *testing.T) {
	for b, want := range map[string]string{
		"{value: 1, was: 2}":                     "was is no modifier of value, so that b is a group",
		"{value: 1, open: true}":                 "open is no modifier of value",
		"{value: 1, more: 2}":                    "",
		"{value: {int: [1, 2]}, was: 2}":         "",
		"{value: 1}":                             "",
		"{was: 1, open: 2}":                      "",
		"{value: 1, was: 2, color: 'red'}":       "",
		"{value: 1, when: 'a > 1'}":              "",
		"{net: {value: 1, was: 2}, depth: 3}":    "was is no modifier of value, so that b/net is a group",
		"{value: 1, was: {choice: [1, 2]}}":      "",
		"{value: 1, when: 'a > 1', was: 2}":      "was is no modifier",
		"{value: 1, was: 2, open: 3, step: 0.1}": "open is no modifier",
	} {
		e, err := Parse("x.yaml", []byte("space:\n  a: {int: [1, 3]}\n  b: "+b+"\n"+base))
		if err != nil {
			t.Errorf("%s: %v", b, err)
			continue
		}
		found := ""
		for _, w := range e.Warnings {
			if strings.Contains(w.Msg, "no modifier") {
				found += w.Msg
			}
		}
		if (found != "") != (want != "") || !strings.HasPrefix(found, want) {
			t.Errorf("%s: %q, want %q", b, found, want)
		}
	}
}
