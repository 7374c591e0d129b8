package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

const misleading = "a\u202eb\u2066c\u200bd\u009b2Je\x1b[2Jf"

// Users see every character of names, values, reasons and errors. JSON has them unchanged.
func TestNothingIsHidden(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hidden")
	choice, err := json.Marshal(misleading)
	if err != nil {
		t.Fatal(err)
	}
	w := viewtest.New(dir, []byte(`
version: 1
objective: {metric: accuracy, mode: max}
trainable: {plugin: chaos}
space: {x: {uniform: [0, 1]}, c: {choice: [`+string(choice)+`]}}
trials: 3
`), 1)
	w.Names = []string{"accuracy", misleading}
	w.Fails = map[core.TrialNo]string{1: misleading}
	w.Start(2)
	w.Run(50)
	w.Close()
	for _, args := range [][]string{{"trials", dir}, {"trials", dir, "--csv"}, {"trials", dir, "--json"}, {"best", dir},
		{"best", dir, "--json"},
		{"best", dir, "--curve"}, {"status", dir}, {"status", dir, "--json"}, {"ls", filepath.Dir(dir)}, {"lineage",
			dir}, {"lineage", dir, "--json"},
		{"importance", dir}, {"journal", dir}, {"journal", dir, "--json"}, {"doctor", dir}, {"logs", dir,
			"1"}, {"nosuch" + misleading}} {
		var out, errs bytes.Buffer
		run(args, nil, strings.NewReader(""), &out, &errs)
		for _, r := range out.String() + errs.String() {
			if untrusted.Hidden(r) {
				t.Errorf("%s prints %q:\n%q", args, r, out.String()+errs.String())
				break
			}
		}
		switch args[len(args)-1] {
		case "--csv":
			if _, err := csv.NewReader(&out).ReadAll(); err != nil {
				t.Errorf("%s: %v", args, err)
			}
		case "--json":
			jsonHas(t, args, out.String())
		}
	}
}

func jsonHas(t *testing.T, args []string, text string) {
	t.Helper()
	var all string
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		all += flat(v)
	}
	if args[0] == "trials" && !strings.Contains(all, misleading) {
		t.Errorf("%s has not the text as it was: %q", args, all)
	}
}

// flat returns all text in a value.
func flat(v any) (all string) {
	switch v := v.(type) {
	case string:
		return v + "\n"
	case []any:
		for _, x := range v {
			all += flat(x)
		}
	case map[string]any:
		for k, x := range v {
			all += k + "\n" + flat(x)
		}
	}
	return all
}
