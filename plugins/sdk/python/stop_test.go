package python_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// stopping runs a trial of testdata/stops.py until it is between its reports.
func stopping(t *testing.T, params string, test func(t *testing.T, d *driver, dir string)) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			c := config(t, sdk.KindTrainable, "testdata/stops.py")
			c.Args, c.Env = append(c.Args, way.args...), append(c.Env, way.env...)
			d, dir := newDriver(t, c, ""), t.TempDir()
			d.start(1, params, sdk.Trial{Dir: dir})
			d.want(train.Result, "")
			d.continues(1)
			noted(t, dir, "begun")
			test(t, d, dir)
		})
	}
}

// noted waits for a file that the trial creates.
func noted(t *testing.T, dir, name string) {
	t.Helper()
	eventually(t, name, func() bool { return exists(dir, name) })
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

func allow(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// B-150: a stop between reports raises Stopped immediately, and the finally blocks run. The trial
// knows whether it is only paused.
func TestStopBetweenReports(t *testing.T) {
	for _, paused := range []bool{false, true} {
		stopping(t, `{}`, func(t *testing.T, d *driver, dir string) {
			d.send(train.Command{Kind: train.Stop, Run: 1, Paused: paused})
			d.want(train.Ended, "")
			if !exists(dir, "clean") || exists(dir, "paused True") != paused || exists(dir, "paused False") == paused {
				t.Errorf("it has not cleaned up, or does not know that paused is %t", paused)
			}
		})
	}
	stopping(t, `{"generator": true}`, func(t *testing.T, d *driver, dir string) {
		d.send(train.Command{Kind: train.Stop, Run: 1})
		d.want(train.Ended, "")
		if !exists(dir, "clean") {
			t.Error("the generator has not cleaned up")
		}
	})
}

// B-150: a second stop does not disturb the cleanup.
func TestStopWhileCleaning(t *testing.T) {
	stopping(t, `{"slow": true}`, func(t *testing.T, d *driver, dir string) {
		d.send(train.Command{Kind: train.Stop, Run: 1})
		noted(t, dir, "cleaning")
		d.send(train.Command{Kind: train.Stop, Run: 1}, train.Command{Kind: train.Stop, Run: 1, Paused: true})
		allow(t, dir, "cleaned")
		d.want(train.Ended, "")
		if !exists(dir, "clean") {
			t.Error("the cleanup was disturbed")
		}
	})
}

// A stop that requests a checkpoint waits for the next report, which saves.
func TestStopThatSaves(t *testing.T) {
	stopping(t, `{}`, func(t *testing.T, d *driver, dir string) {
		d.send(train.Command{Kind: train.Stop, Run: 1, Dir: t.TempDir()})
		allow(t, dir, "go")
		d.want(train.Result, "")
		d.want(train.Saved, "iteration 2")
		d.want(train.Ended, "")
	})
}
