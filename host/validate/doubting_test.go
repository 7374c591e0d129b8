package validate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/validate/needs"
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

// What trials need is tried, too: a run would end at the first trial without a value.
func TestRequestable(t *testing.T) {
	t.Parallel()
	for amount, want := range map[string]string{
		"w":                 "cpu: w: unknown value (no such attribute(s): w); some trials lack a value, such as",
		"o == 'a' ? w : 1":  "",
		"o == 'a' ? w : -1": "needs",
	} {
		text := "version: 1\nobjective: {metric: loss, mode: min}\ntrainable: {command: [a]}\n" +
			"space: {o: {choice: [a, b]}, w: {int: [1, 2], when: \"o == 'a'\"}}\nresources: {cpu: \"" + amount + "\"}\n"
		e, err := config.Parse("a.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = needs.Requestable(e)
		if (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "a.yaml:5:")) {
			t.Errorf("%s: %v, want %q", amount, err, want)
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
