package js_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// The output of each trial of one process goes to its own files, for sequential and parallel
// trials; values that are not numbers are kept with the result.
func TestOutputOfTrials(t *testing.T) {
	for _, shared := range []bool{false, true} {
		d := openTalker(t, shared)
		var dirs []string
		var runs []uint64
		for run := uint64(1); run <= 3; run++ {
			dirs, runs = append(dirs, t.TempDir()), append(runs, run)
			d.send(train.Command{Kind: train.Start, Run: run,
				Trial: &sdk.Trial{Dir: dirs[run-1], Params: fmt.Appendf(nil, `{"name":"t%d"}`, run)}})
			if !shared {
				d.finish(run)
			}
		}
		if shared {
			d.finish(runs...)
		}
		for i, dir := range dirs {
			for _, name := range []string{"stdout", "stderr"} {
				got, err := os.ReadFile(filepath.Join(dir, name))
				if want := fmt.Sprintf("%s t%d\n", name[3:], i+1); err != nil || string(got) != want {
					t.Errorf("shared %t: %s of trial %d is %q, %v; want %q", shared, name, i+1, got, err, want)
				}
			}
		}
	}
}

// The experiment names the files; output without a file name is dropped.
func TestOutputInNamedFiles(t *testing.T) {
	d := openTalker(t, false)
	for i, c := range []struct {
		logs sdk.Logs
		want map[string]string
	}{
		{sdk.Logs{Stdout: "out.txt", Stderr: "errors.txt"},
			map[string]string{"out.txt": "out t1\n", "errors.txt": "err t1\n"}},
		{sdk.Logs{Stdout: "all.txt", Stderr: "all.txt"}, map[string]string{"all.txt": "out t2\nerr t2\n"}},
		{sdk.Logs{}, nil},
	} {
		dir, run := t.TempDir(), uint64(i+1)
		d.send(train.Command{Kind: train.Start, Run: run,
			Trial: &sdk.Trial{Dir: dir, Params: fmt.Appendf(nil, `{"name":"t%d"}`, run), Logs: &c.logs}})
		d.finish(run)
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

func openTalker(t *testing.T, shared bool) *driver {
	return openTrainable(t, "testdata/talker.js", fmt.Sprintf(`{"shared":%t}`, shared))
}

// finish lets runs complete.
func (d *driver) finish(runs ...uint64) {
	d.Helper()
	for len(runs) > 0 {
		switch e := d.next(); e.Kind {
		case train.Result:
			if want := fmt.Sprintf(`{"note":"t%d"}`, e.Run); string(e.Values) != want {
				d.Errorf("run %d reports %s beside the metrics, want %s", e.Run, e.Values, want)
			}
			d.grant(e.Run, 1)
		case train.Ended:
			if e.Error != "" {
				d.Errorf("run %d: %s", e.Run, e.Error)
			}
			runs = slices.DeleteFunc(runs, func(run uint64) bool { return run == e.Run })
		}
	}
}

// The SDK does not write to anything but a regular file.
func TestOutputFollowsNoLink(t *testing.T) {
	d, dir, secret := openTalker(t, false), t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.Symlink(secret, filepath.Join(dir, "stderr")); err != nil {
		t.Fatal(err)
	}
	d.start(1, sdk.Trial{Dir: dir, Params: []byte(`{"name":"x"}`)})
	if e := d.next(); e.Kind != train.Ended || !e.NeverStarted {
		t.Errorf("%+v", e)
	}
	if _, err := os.Stat(secret); err == nil {
		t.Error("the link was followed")
	}
}
