package steer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// B-083: while a host starts, settings are refused as something that works a moment later, and nothing changes; when
// it has gone, they are set.
func TestSetWhileAHostStarts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "digits")
	w := viewtest.New(dir, []byte("version: 1\nobjective: {metric: accuracy, mode: max}\n"+
		"space: {lr: {uniform: [0, 1]}}\ntrials: 4\n"), 7)
	w.Start(2)
	w.Run(1)
	w.Crash()
	e, err := view.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	lock, err := journal.LockDir(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	resting := &steer.Resting{View: e.Experiment}
	set := steer.Set{Settings: []string{"trials=9"}}
	_, err = resting.Do(set)
	var busy *steer.BusyError
	if !errors.As(err, &busy) {
		t.Errorf("while a host starts: %v", err)
	}
	if now, err := os.ReadFile(filepath.Join(dir, "run.json")); err != nil || string(now) != string(before) {
		t.Errorf("run.json has changed, %v:\n%s", err, now)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if a, err := resting.Do(set); err != nil || len(a.Changed) != 1 || !a.Later {
		t.Errorf("when no host starts any more: %+v, %v", a, err)
	}
}

// A command in an error can be pasted, whatever the directory is called.
func TestPathsAreQuoted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my digits")
	w := viewtest.New(dir, []byte("version: 1\nobjective: {metric: accuracy, mode: max}\n"+
		"space: {lr: {uniform: [0, 1]}}\ntrials: 4\n"), 7)
	w.Start(2)
	w.Run(1)
	w.Crash()
	e, err := view.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = (&steer.Resting{View: e.Experiment}).Do(steer.Unpause{})
	if err == nil || !strings.Contains(err.Error(), "`tunehost resume '"+dir+"'`") {
		t.Errorf("%v", err)
	}
}
