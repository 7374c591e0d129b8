package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
)

// handsOver is a program of three iterations, which hands over a checkpoint of each under
// the same name, and ends.
const handsOver = `
echo run >> runs
i=0
[ -n "$TUNEHOST_CHECKPOINT" ] && i=$(cat "$TUNEHOST_CHECKPOINT/state")
while [ $i -lt 3 ]; do
	i=$((i + 1)); dir=$TUNEHOST_CHECKPOINT_DIR/last
	mkdir $dir && echo $i > $dir/state
	echo "{\"score\": $i, \"iteration\": $i, \"checkpoint\": \"$dir\"}"
	while [ -d $dir ]; do sleep 0.01; done
done
`

// cutRecord leaves of an experiment's record what it was when the program had ended, and
// its last checkpoint was not kept yet.
func cutRecord(t *testing.T, dir string, change func(core.Event)) {
	t.Helper()
	d, err := storage.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	err = history.Walk(d.Journal(), func(x *history.Step) error {
		if saved, ok := x.Event.(*core.CheckpointSaved); ok && saved.Iteration == 3 {
			return nil
		}
		change(x.Event)
		b, err := record.Append(nil, x.At, x.Event)
		records = append(records, b)
		return err
	})
	file, _, err2 := runfile.Read(d)
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	id, err := file.ID()
	forgetResults(t, dir, 1)
	if err = errors.Join(err, os.RemoveAll(d.Journal())); err != nil {
		t.Fatal(err)
	}
	fs, err := journal.MakeDir(d.Journal())
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(fs, journal.Options{RunID: id})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = j.Append(records); errors.Join(err, j.Close()) != nil {
		t.Fatal(err)
	}
}

// B-051 B-055 B-080: a host is killed while it keeps the last checkpoint of a program that has
// ended, at any point of that. The next host takes it from where it lies, and the trial is
// completed with it. Where it is not there whole, the trial runs again from the one before:
// it is never completed at an iteration whose checkpoint was handed over and is missing.
func TestLastCheckpointIsTakenAgain(t *testing.T) {
	t.Parallel()
	rename := func(to string) func(string) error {
		return func(dir string) error { return os.Rename(dir, dir+to) }
	}
	for how, c := range map[string]struct {
		left   func(checkpoint string) error
		change func(core.Event)
		runs   int
		warns  bool
	}{
		"it was whole":    {left: func(string) error { return nil }, runs: 1},
		"it was finished": {left: rename(".new"), runs: 1},
		"it was moved": {left: func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "MANIFEST.json")), rename(".tmp")(dir))
		}, runs: 1},
		"it was where it was put": {left: putBack, runs: 1},
		"it is gone":              {left: os.RemoveAll, runs: 2, warns: true},
		"its file is gone": {left: func(dir string) error {
			return os.Remove(filepath.Join(dir, "files", "state"))
		}, runs: 2, warns: true},
		"it was finished and changed": {left: func(dir string) error {
			state := filepath.Join(dir, "files", "state")
			return errors.Join(os.Remove(state), os.WriteFile(state, []byte("4\n"), 0o600), rename(".new")(dir))
		}, runs: 2, warns: true},
		"the machine went down": {left: putBack, runs: 2, warns: true, change: func(e core.Event) {
			if h, ok := e.(*core.HostStarted); ok {
				h.Boot = "another"
			}
		}},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			script := filepath.Join(t.TempDir(), "train.sh")
			if err := os.WriteFile(script, []byte(handsOver), 0o600); err != nil {
				t.Fatal(err)
			}
			o, seen := quiet(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {command: [sh, "+script+
				"]}\nspace: {x: 1}\n")
			ended := finish(t, o)
			last := folders(t, ended.Dir, "000003")[0]
			if c.change == nil {
				c.change = func(core.Event) {}
			}
			cutRecord(t, ended.Dir, c.change)
			if err := c.left(last); err != nil {
				t.Fatal(err)
			}
			finish(t, o)
			m := audit(t, ended.Dir, nil)
			v := m.View(0)
			if v.State != core.Terminated || v.Iteration != 3 || v.Checkpoint.Iteration != 3 {
				t.Errorf("%s at iteration %d, with a checkpoint of %d\n%s", v.State, v.Iteration,
					v.Checkpoint.Iteration, seen)
			}
			if runs := strings.Count(trialFile(t, ended.Dir, "00000", "runs"), "run"); runs != c.runs {
				t.Errorf("it ran %d times\n%s", runs, seen)
			}
			if warns := strings.Contains(seen.String(), "is not used: "); warns != c.warns {
				t.Errorf("it warns: %t\n%s", warns, seen)
			}
			for _, dir := range folders(t, ended.Dir, "00*") {
				unused := c.warns && dir == last // nothing else of it is left
				if _, err := storage.CheckCheckpoint(dir, true); err != nil && !unused {
					t.Error(err)
				}
			}
		})
	}
}

// putBack leaves a checkpoint as its program has handed it over.
func putBack(checkpoint string) error {
	trial := filepath.Dir(filepath.Dir(checkpoint))
	return errors.Join(os.Rename(filepath.Join(checkpoint, "files"), filepath.Join(trial, ".checkpoints", "last")),
		os.RemoveAll(checkpoint))
}
