package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/internal/suite"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

func openTalker(t *testing.T) *suite.Driver {
	return suite.NewDriver(t, func(t *testing.T, k sdk.Kind) plugin.Plugin { return startConfig(t, self(t, k, "talker")) }, nil)
}

// What each of three trials of one process prints is in its own files.
func TestOutputOfTrials(t *testing.T) {
	d := openTalker(t)
	for run := uint64(1); run <= 3; run++ {
		dir, id := t.TempDir(), fmt.Sprintf("t%d", run)
		d.Start(run, "{}", sdk.Trial{ID: id, Dir: dir})
		d.Want(train.Started, "")
		d.Want(train.Ended, "")
		for name, want := range map[string]string{"stdout": "out " + id + "\nchild " + id + "\n", "stderr": "err " + id + "\n"} {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
				t.Errorf("%s of trial %d is %q, %v; want %q", name, run, got, err, want)
			}
		}
	}
}

// The files are those that the experiment names; what has no name is not kept.
func TestOutputInNamedFiles(t *testing.T) {
	d := openTalker(t)
	for run, c := range []struct {
		logs sdk.Logs
		want map[string]string
	}{
		{sdk.Logs{Stdout: "out.txt", Stderr: "errors.txt"}, map[string]string{"out.txt": "out t0\nchild t0\n", "errors.txt": "err t0\n"}},
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

// A file that is no plain one is not written to.
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
