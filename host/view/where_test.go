package view_test

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/view"
)

// A mistake in a long expression, or a name that is too long, is one line of a sensible length, with the place.
func TestLongMistakes(t *testing.T) {
	e := values(t, "min", [][]float64{{3}, {1}, {2}, {4}})
	long, many := strings.Repeat("a", 3000), strings.Repeat("accuracy > 0.1 && ", 200)
	for text, place := range map[string]string{
		long + " > 1":                 "column 1: ",
		many + "accuracyy > 1":        "column 3601: ",
		"accuracy > 1 && " + long:     "column 17: ",
		"metrics['" + long + "'] > 1": "column 10: ",
		many + "'" + long[:400]:       "column 3601: ",
		"x > 'a' && '" + long + "'":   "column ",
		many + "params['zz'] > 1":     "column ",
		many + "int('x') > 1":         "cannot be evaluated",
	} {
		_, err := e.Choose(view.Chosen{Where: text})
		if err == nil || len(err.Error()) > 400 || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), place) {
			t.Errorf("%.40s…%s: %v, want %s", text, text[max(len(text)-20, 0):], err, place)
		}
	}
	for _, c := range []view.Chosen{{Sort: long}} {
		if _, err := e.Choose(c); err == nil || len(err.Error()) > 400 {
			t.Error(err)
		}
	}
}
