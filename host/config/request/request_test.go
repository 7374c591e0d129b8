package request

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
)

// An amount that nobody can have is refused with its place in the file.
func TestPlaceOfAnAmount(t *testing.T) {
	const file = "version: 1\nobjective: {metric: loss, mode: min}\ntrainable: {command: [sh]}\n" +
		"space: {x: {choice: [1e30, 2e30]}}\ntrials: 1\n"
	for text, want := range map[string]string{
		"resources: {memory: 9223372036854775807}":      "x.yaml:6:21: resource memory: amount",
		"resources: {cpu: 99999999999999999999999}":     "x.yaml:6:18: resource cpu: amount",
		"resources: {cpu: 0.00000001}":                  "x.yaml:6:18: resource cpu: amount",
		"resources: {gpu: 1.5}":                         "x.yaml:6:18: gpu 1.5: above one",
		"resources: {a.b: 1, 'a b': 1}":                 `x.yaml:6:28: resource name "a b"`,
		"resources: {cpu: x}":                           "x.yaml:6:18: resource cpu: amount",
		"placement: {bundles: [{cpu: 1}, {cpu: 1e30}]}": "x.yaml:6:39: resource cpu: amount",
	} {
		e, err := config.Parse("x.yaml", []byte(file+text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = For(e, []byte(`{"x": 1e30}`))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

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
