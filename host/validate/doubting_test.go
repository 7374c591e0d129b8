package validate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/bundled"
)

// A script is looked for where the program is started, too.
func TestScriptInCWD(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "work", "t.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := &config.Experiment{Origin: config.Origin{File: filepath.Join(dir, "a.yaml")},
		Trainable: &config.Trainable{CWD: "work"}}
	for arg, want := range map[string]bool{"t.sh": false, "other.sh": true, "work/t.sh": false} {
		if got := absentScript(e, arg); got != want {
			t.Errorf("%s: absent is %t", arg, got)
		}
	}
}

// A folder of plugins that is none is a doubt, as one that does not exist.
func TestUnusableFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := &config.Experiment{Origin: config.Origin{File: filepath.Join(dir, "a.yaml")}}
	for place, want := range map[string]string{".": "", "none": "plugins: none: there is no such folder",
		"file": "plugins: file is not a folder", "/dev/zero": "plugins: /dev/zero is not a folder"} {
		e.Plugins = []string{place}
		list := unusableFolders(e)
		if (len(list) > 0) != (want != "") || want != "" && !strings.HasPrefix(list[0].Msg, want) {
			t.Errorf("%s: %v, want %q", place, list, want)
		}
	}
}

// Constraints that hold nowhere are found, also those that only the host can check; so is one that cannot be evaluated.
func TestImpossibleConstraints(t *testing.T) {
	t.Parallel()
	const ten = "[1,2,3,4,5,6,7,8,9,10]"
	endless := ten + ".exists(a," + ten + ".exists(b," + ten + ".exists(c," + ten + ".exists(d," + ten +
		".exists(e, lr > 2.0)))))"
	for constraint, want := range map[string]string{
		"lr > 2.0":                  "a.yaml:5:15: ",
		"[1].exists(a, lr > 2.0)":   "a.yaml:5:15: ",
		"[1].exists(a, lr > 0.995)": "",
		endless:                     "a.yaml:5:15: the constraint ",
	} {
		text := "version: 1\nobjective: {metric: loss, mode: min}\ntrainable: {command: [a]}\n" +
			"space: {lr: {uniform: [0, 1]}}\nconstraints: ['" + constraint + "']\ntrials: 3\n"
		e, err := config.Parse("a.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(tooTight(e), computable(e))
		if (err != nil) != (want != "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", constraint, err)
		}
	}
}

// What is computed from parameters is tried: a run would fail at its first trial.
func TestComputable(t *testing.T) {
	t.Parallel()
	for sample, want := range map[string]string{
		"uniform(1e308, -1e308)":            "the first bound is above the second",
		"uniform(-1e308, 1e308)":            "the value is not finite",
		"uniform(0, x)":                     "",
		"x > 0.5 ? 1.0 : uniform(1.0, 0.0)": "", // a run may do without such points
	} {
		text := "version: 1\nobjective: {metric: loss, mode: min}\ntrainable: {command: [a]}\n" +
			"space: {x: {uniform: [0, 1]}, y: {sample: '" + sample + "'}}\n"
		e, err := config.Parse("a.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = computable(e)
		if found := Check(&options.Options{Plugins: bundled.New()}, e); err != nil && (found == nil ||
			!strings.Contains(found.Error(), err.Error())) {
			t.Errorf("%s: a run does not refuse it: %v", sample, found)
		}
		if (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "a.yaml:4:31: ")) {
			t.Errorf("%s: %v, want %q", sample, err, want)
		}
	}
}
