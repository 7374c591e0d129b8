package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/steer"
)

// A user who may write to an experiment's directory, or replace it,
// decides what runs: the experiment is refused, begun or not, and runs where the user
// trusts the others, who then is told.
func TestDirectoryOfEverybody(t *testing.T) {
	for what, open := range map[string]func(dir string) error{
		"its own": func(dir string) error { return os.Chmod(dir, 0o777) },
		"storage": func(dir string) error { return os.Chmod(filepath.Dir(dir), 0o777) },
		"of trial": func(dir string) error {
			return errors.Join(os.MkdirAll(dir+"/trials", 0o700), os.Chmod(dir+"/trials", 0o777))
		},
	} {
		for _, begun := range []bool{false, true} {
			if what == "of trial" && !begun {
				continue // nothing begins among others' files at all
			}
			o, seen := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: 1\n"))
			o.Verbose = 1
			dir := filepath.Join(o.Storage, "test")
			if begun {
				finish(t, o)
				o.Sets = append(o.Sets, "trials=2")
			}
			if err := errors.Join(os.MkdirAll(dir, 0o700), open(dir)); err != nil {
				t.Fatal(err)
			}
			before := namesIn(t, dir)
			text := refused(t, o)
			contains(t, text, "who could change what runs as you: run chmod ", "add --trust-dir")
			if strings.Contains(text, "\n") || namesIn(t, dir) != before {
				t.Errorf("%s: %q; there was %s, there is %s", what, text, before, namesIn(t, dir))
			}
			o.TrustDir = true
			finish(t, o)
			contains(t, seen.String(), "who could change what runs as you")
		}
	}
}

// Another user's directory is refused, also by root, who could be led anywhere.
func TestDirectoryOfAnother(t *testing.T) {
	asRoot(t)
	const another = 65534
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: 1\n"))
	dir := filepath.Join(o.Storage, "test")
	finish(t, o)
	if err := os.Chown(dir, another, another); err != nil {
		t.Fatal(err)
	}
	o.Sets = append(o.Sets, "trials=2")
	before := namesIn(t, dir)
	contains(t, refused(t, o), "belongs to another user (65534; you are 0)", "--trust-dir")
	_, err := Resume(t.Context(), dir, o)
	if err == nil || namesIn(t, dir) != before {
		t.Errorf("%v; there was %s, there is %s", err, before, namesIn(t, dir))
	}
	o.TrustDir = true
	finish(t, o)
}

// Settings are not written into another user's directory, which would take run.json from its owner, nor into one that
// others can write to, unless the user trusts them.
func TestSettingsInDirectoryOfAnother(t *testing.T) {
	asRoot(t)
	const another = 65534
	for what, open := range map[string]func(dir string) error{
		"belongs to another user (65534; you are 0)": func(dir string) error {
			return errors.Join(os.Chown(dir, another, another), os.Chown(dir+"/run.json", another, another))
		},
		"can be written to by others": func(dir string) error { return os.Chmod(dir, 0o777) },
	} {
		o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: 1\n"))
		dir := finish(t, o).Dir
		if err := open(dir); err != nil {
			t.Fatal(err)
		}
		files, run := namesIn(t, dir), statOf(t, dir+"/run.json")
		rests := &steer.Resting{View: opened(t, dir).Experiment, Shown: "DIR"}
		_, err := set(rests, "trials=2")
		if err == nil {
			t.Fatalf("%s: not refused", what)
		}
		contains(t, err.Error(), what, "; where that is meant to be, `tunehost set DIR KEY=VALUE --trust-dir` sets it")
		if after := statOf(t, dir+"/run.json"); !os.SameFile(run, after) || namesIn(t, dir) != files {
			t.Errorf("%s: there was %s, there is %s; run.json: %v", what, files, namesIn(t, dir), after)
		}
		rests.TrustDir = true
		if a, err := set(rests, "trials=2"); err != nil || len(a.Changed) != 1 {
			t.Errorf("%s: with trust: %+v, %v", what, a, err)
		}
	}
}

func statOf(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// asRoot skips a test that only root can run. With STRICT=1 the test fails instead.
func asRoot(t *testing.T) {
	t.Helper()
	switch {
	case os.Getuid() == 0:
	case os.Getenv("CI") != "":
		t.Fatal("only root can give files to other users: let CI run this as root")
	default:
		t.Skip("NOT TESTED: only root can give files to other users; run this as root")
	}
}

func namesIn(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range list {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}
