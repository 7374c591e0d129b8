package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/testplace"
)

// interruptedTrial is an experiment whose only trial was interrupted.
func interruptedTrial(t *testing.T) (o Options, dir, trial string) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "train.sh")
	text := "echo '{\"score\": 1}'\ntouch begun\nexec sleep 60\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o, _ = quiet(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {command: [sh, "+script+
		"]}\nspace: {x: 1}\nstop_grace: 2s\n")
	ctx, interrupt := context.WithCancel(t.Context())
	begun := func() bool {
		found, _ := filepath.Glob(filepath.Join(o.Storage, "*", "trials", "*", "begun"))
		if len(found) > 0 {
			trial = filepath.Dir(found[0])
		}
		return trial != ""
	}
	done := make(chan error)
	go func() {
		_, err := run(ctx, o)
		done <- err
	}()
	testplace.Soon(t, "the trial", begun)
	interrupt()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return o, filepath.Dir(filepath.Dir(trial)), trial
}

// B-091: the examination of an experiment finds what makes a host refuse it, or a trial fail.
func TestPlacesThatAreRefused(t *testing.T) {
	t.Parallel()
	for how, c := range map[string]struct {
		change func(dir, trial string) error
		says   string
	}{
		"nothing": {func(string, string) error { return nil }, ""},
		"LOCK has another name": {func(dir, _ string) error { return os.Link(dir+"/LOCK", dir+"/copy") },
			"LOCK is a file that has another name"},
		"the log has another name": {func(dir, _ string) error { return os.Link(dir+"/host.log", dir+"/copy") },
			"host.log is a file that has another name"},
		"the log is a folder": {func(dir, _ string) error {
			return errors.Join(os.Remove(dir+"/host.log"), os.Mkdir(dir+"/host.log", 0o700))
		}, "host.log is a folder"},
		"others may write to the record": {func(dir, _ string) error { return os.Chmod(dir+"/journal", 0o777) },
			"journal can be written to by others"},
		"others may write to the trials": {func(dir, _ string) error { return os.Chmod(dir+"/trials", 0o777) },
			"trials can be written to by others"},
		"checkpoints go into a file": {func(_, trial string) error {
			return errors.Join(os.RemoveAll(trial+"/.checkpoints"), os.WriteFile(trial+"/.checkpoints", nil, 0o600))
		}, ".checkpoints is a file"},
		"the output has another name": {func(_, trial string) error { return os.Link(trial+"/stdout", trial+"/copy") },
			"stdout is a file that has another name"},
		"the errors are a link": {func(_, trial string) error {
			return errors.Join(os.Remove(trial+"/stderr"), os.Symlink("stdout", trial+"/stderr"))
		}, "stderr is a link"},
		"the trial's directory is gone": {func(_, trial string) error { return os.RemoveAll(trial) },
			"is gone, with the files of the trial"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			o, dir, trial := interruptedTrial(t)
			if err := c.change(dir, trial); err != nil {
				t.Fatal(err)
			}
			bad := badlyExamined(t, dir, o.Plugins)
			if (bad == "") != (c.says == "") || !strings.Contains(bad, c.says) {
				t.Errorf("%q", bad)
			}
		})
	}
}
