package process_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/internal/suite"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

func openTalker(t *testing.T) *suite.Driver {
	return suite.NewDriver(t, func(t *testing.T, k sdk.Kind) plugin.Plugin {
		return startConfig(t,
			self(t, k, "talker"))
	}, nil)
}

// The output of each of three trials in one process goes to the trial's own files.
func TestOutputOfTrials(t *testing.T) {
	d := openTalker(t)
	for run := uint64(1); run <= 3; run++ {
		dir, id := t.TempDir(), fmt.Sprintf("t%d", run)
		d.Start(run, "{}", sdk.Trial{ID: id, Dir: dir})
		d.Want(train.Started, "")
		d.Want(train.Ended, "")
		for name, want := range map[string]string{"stdout": "out " + id + "\nchild " + id + "\n",
			"stderr": "err " + id + "\n"} {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
				t.Errorf("%s of trial %d is %q, %v; want %q", name, run, got, err, want)
			}
		}
	}
}

// A trial takes over the empty files of the one before it, which is cheaper than new ones. What was
// printed stays, and so do all files once the process has started a program that may still print.
func TestEmptyOutputMovesOn(t *testing.T) {
	d := openTalker(t)
	root := t.TempDir()
	for run, c := range []struct{ dir, id string }{
		{"a", "quiet"}, {"b", "quiet"}, {"b", "quiet"}, {"c", "brief"}, {"d", "quiet"}, {"e", "t"}, {"f", "quiet"},
		{"g", "quiet"}, {"c", "quiet"},
	} {
		dir := filepath.Join(root, c.dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		d.Start(uint64(run), "{}", sdk.Trial{ID: c.id, Dir: dir})
		d.Want(train.Started, "")
		d.Want(train.Ended, "")
	}
	want := map[string]int64{"c/stdout": 10, "c/stderr": 0, "e/stdout": 14, "e/stderr": 6, "f/stdout": 0,
		"f/stderr": 0, "g/stdout": 0, "g/stderr": 0}
	if runtime.GOOS != "linux" {
		for _, name := range []string{"a/stdout", "a/stderr", "b/stdout", "b/stderr", "d/stdout", "d/stderr"} {
			want[name] = 0
		}
	}
	got := map[string]int64{}
	files, err := filepath.Glob(filepath.Join(root, "*", "*"))
	for _, file := range files {
		s, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(root, file)
		got[name] = s.Size()
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, want %v; %v", got, want, err)
	}
}

// The files have the names in the experiment; a stream without a name is not kept.
func TestOutputInNamedFiles(t *testing.T) {
	d := openTalker(t)
	for run, c := range []struct {
		logs sdk.Logs
		want map[string]string
	}{
		{sdk.Logs{Stdout: "out.txt", Stderr: "errors.txt"},
			map[string]string{"out.txt": "out t0\nchild t0\n", "errors.txt": "err t0\n"}},
		{sdk.Logs{Stdout: "all.txt", Stderr: "all.txt"}, map[string]string{"all.txt": "out t1\nerr t1\nchild t1\n"}},
		{sdk.Logs{Stderr: "errors.txt"}, map[string]string{"errors.txt": "err t2\n"}},
		{sdk.Logs{}, nil},
	} {
		dir := t.TempDir()
		d.Start(uint64(run), "{}", sdk.Trial{ID: fmt.Sprintf("t%d", run), Dir: dir, Logs: &c.logs})
		d.Want(train.Started, "")
		d.Want(train.Ended, "")
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != len(c.want) {
			t.Errorf("%+v: %v, %v", c.logs, files, err)
		}
		for name, want := range c.want {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
				t.Errorf("%+v: %s is %q, %v", c.logs, name, got, err)
			}
		}
	}
}

// Output is written to plain files only.
func TestOutputFollowsNoLink(t *testing.T) {
	d, dir, secret := openTalker(t), t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.Symlink(secret, filepath.Join(dir, "stderr")); err != nil {
		t.Fatal(err)
	}
	d.Start(1, "{}", sdk.Trial{Dir: dir})
	if e := d.Want(train.Ended, "cannot write the trial's log"); !e.NeverStarted {
		t.Errorf("%+v", e)
	}
	if _, err := os.Stat(secret); err == nil {
		t.Error("the link was followed")
	}
}
