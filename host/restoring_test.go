package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage"
)

const restoring = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 9, done: true, any_params: true}}
space: {x: {uniform: [0, 1]}}
checkpoint: {at_end: true}
`

// B-054, B-055: every trial starts from another experiment's checkpoint, whatever
// becomes of that one, and its iterations continue from there.
func TestRestore(t *testing.T) {
	o, _ := quick(t, strings.Replace(restoring, "iterations: 9", "iterations: 4", 1))
	first := finish(t, o)
	found, _ := filepath.Glob(filepath.Join(first.Dir, "trials", "*", "checkpoints", "*", "files"))
	if len(found) != 1 {
		t.Fatal(found)
	}
	for name, from := range map[string]string{"as it is shown": found[0], "as a whole": filepath.Dir(found[0])} {
		t.Run(name, func(t *testing.T) {
			o, _ := quick(t, restoring+"restore: "+from+"\ntrials: 2\n")
			m := audit(t, finish(t, o).Dir, nil)
			for no := range core.TrialNo(2) {
				if v := m.View(no); v.Results != 5 || v.Iteration != 9 {
					t.Errorf("trial %d: %d results up to iteration %d", no, v.Results, v.Iteration)
				}
			}
			o.Sets = []string{"trials=3"}
			ended := finish(t, o)
			contains(t, trialFile(t, ended.Dir, "00002", "result.jsonl"), `"iteration":5,`,
				`"iterations_since_restore":1,`)
		})
	}
	if err := os.RemoveAll(first.Dir); err != nil {
		t.Fatal(err)
	}
}

// The copy is what later hosts start from.
func TestRestoreIsACopy(t *testing.T) {
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, -c, 'n=$(cat $TUNEHOST_CHECKPOINT/sub/state); echo "{{\"score\": $n}}"']}
space: {x: {uniform: [0, 1]}}
restore: model
`)
	model := filepath.Join(filepath.Dir(o.File), "model", "sub")
	if err := os.MkdirAll(model, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(model, "state"), []byte("17\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	finish(t, o)
	if err := os.RemoveAll(filepath.Dir(model)); err != nil {
		t.Fatal(err)
	}
	o.Sets = []string{"trials=2"}
	ended := finish(t, o)
	for no := range 2 {
		contains(t, trialFile(t, ended.Dir, fmt.Sprintf("%05d", no), "result.jsonl"), `"score":17`, `"iteration":1,`,
			`"iterations_since_restore":1,`)
	}
	wellExamined(t, ended.Dir, o.Plugins)
	state := filepath.Join(ended.Dir, "start", "checkpoints", "000001", "files", "sub", "state")
	if err := errors.Join(os.Remove(state), os.WriteFile(state, []byte("18\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	contains(t, badlyExamined(t, ended.Dir, o.Plugins), "sub/state was changed: every trial starts from it")
	if err := os.RemoveAll(filepath.Join(ended.Dir, "start")); err != nil {
		t.Fatal(err)
	}
	o.Sets = []string{"trials=3"}
	contains(t, refused(t, o), "every trial starts from a checkpoint that is kept in")
}

func TestRestoreMistakes(t *testing.T) {
	o, _ := quick(t, restoring+"restore: nowhere\n")
	contains(t, refused(t, o), ":6:1: restore: ", "nowhere is not a directory")
	damaged := t.TempDir()
	dir, err := storage.Stage(damaged, 1)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "state"), []byte("1"), 0o600)
	}
	if err == nil {
		d, _ := storage.At(t.TempDir())
		_, err = d.Commit(damaged, 1, storage.Manifest{Iteration: 3})
	}
	if err == nil {
		state := filepath.Join(storage.CheckpointFiles(damaged, 1), "state")
		err = errors.Join(os.Remove(state), os.WriteFile(state, []byte("2"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	o, _ = quick(t, restoring+"restore: "+storage.CheckpointFiles(damaged, 1)+"\n")
	contains(t, refused(t, o), "restore: ", "state was changed")
	if left, _ := filepath.Glob(filepath.Join(o.Storage, "*", "experiment.yaml")); left != nil {
		t.Errorf("it left %v", left)
	}
}
