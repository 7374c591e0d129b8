package request

import (
	"strings"
	"testing"
)

// A request is written as in an experiment file.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		`{"cpu": 2, "gpu": "0.5", "memory": "4GiB"}`: "cpu 2, gpu 0.5, memory 4GiB",
		`{}`:               "",
		`{"cpu": -1}`:      "!cpu",
		`{"cpu": null}`:    "!cpu",
		`{"cpu": {"a":1}}`: "!cpu",
		`[1]`:              "!resources \"[1]\"",
		`{"bundles": [{"cpu": 2}, {"cpu": 1, "gpu": 1}], "strategy": "spread"}`: "spread of (cpu 2) + (cpu 1, gpu 1)",
		`{"bundles": [{"cpu": 2}, {"cpu": 2}]}`:                                 "pack of 2 × (cpu 2)",
		`{"bundles": []}`:                                                       "!bundle",
		`{"bundles": [{"cpu": -1}]}`:                                            "!cpu",
		`{"bundles": [{}], "strategy": "near"}`:                                 "!near",
		`{"bundles": [{}], "cpu": 1}`:                                           "!cpu",
		`{"bundles": 2}`:                                                        "bundles 2",
		`{"cpu": "`:                                                             "!resources",
	} {
		r, err := Parse([]byte(text))
		if bad, ok := strings.CutPrefix(want, "!"); ok {
			if err == nil || !strings.Contains(err.Error(), bad) {
				t.Errorf("%s: %v, %v; want an error with %q", text, r, err, bad)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		parts := []string{want}
		if !strings.ContainsAny(want, "×+") {
			parts = strings.Split(want, ", ")
		}
		for _, part := range parts {
			if !strings.Contains(r.String(), part) {
				t.Errorf("%s is %v, want %s", text, r, want)
			}
		}
	}
}
