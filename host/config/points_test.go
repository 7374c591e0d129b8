package config_test

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
)

// A value of a point is what the user gave, or a mistake that shows what there is.
func TestPointsMistakes(t *testing.T) {
	e, err := config.Parse("a.yaml", []byte("version: 1\nobjective: {metric: loss, mode: min}\n"+
		"trainable: {command: [a]}\nspace: {big: {int: [0, 9007199254740992]}, u: {choice: [1, '1', b, 'true']}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for params, want := range map[string]string{
		`{"big": 9007199254740993}`: "9007199254740993 for big is too large",
		`{"u": true}`:               `found true for u, expected 1, "1", b or "true"`,
		`{"big": 9007199254740992}`: "",
	} {
		_, err := e.ParsePoint("params", []byte(params))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}
