package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/replay"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/schedulers/pbt"
)

// saver is a program that saves every iteration, waits until that is kept, and
// does in its n-th run what the shell function of that name says.
const saver = `
runs=$(cat runs 2>/dev/null || echo 0); runs=$((runs + 1)); echo $runs > runs
i=0
[ -n "$TUNEHOST_CHECKPOINT" ] && i=$(head -n 1 "$TUNEHOST_CHECKPOINT/state")
echo "run $runs from $i" >> own.log
kept=checkpoints
run$runs 2>/dev/null
while [ $i -lt 4 ]; do
	i=$((i + 1)); dir=$TUNEHOST_CHECKPOINT_DIR/$runs-$i
	mkdir -p $dir && { echo $i; printf "%02000d" $i; } > $dir/state
	echo "{\"score\": $i, \"iteration\": $i, \"checkpoint\": \"$dir\"}"
	while [ -d $dir ]; do sleep 0.01; done
	until [ -d $kept/$(printf %06d $i) ]; do sleep 0.01; done
	[ -f stop$runs ] && [ $i = 2 ] && { after$runs; exit 1; }
	:
done
`

// saves makes an experiment of the program, after functions of its runs.
func saves(t *testing.T, functions, more string) (Options, *testplace.Screen) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "save.sh")
	if err := os.WriteFile(script, []byte(functions+saver), 0o600); err != nil {
		t.Fatal(err)
	}
	return quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, `+script+`]}
space: {x: 1}
`+more)
}

// B-057: a checkpoint that was damaged is noticed, the one before is used, and no
// retry is spent on it. What a program does to its copy stays with it.
func TestDamagedCheckpoint(t *testing.T) {
	t.Parallel()
	o, seen := saves(t, `
run1() { touch stop1; }
after1() { chmod 600 $kept/000002/files/state; echo 9 > $kept/000002/files/state; }
run2() { echo 7 > $TUNEHOST_CHECKPOINT/state; exit 1; }
`, "failures: {retries: 2}\n")
	ended := finish(t, o)
	if ended.Errored != 0 {
		t.Errorf("%+v\n%s", ended, seen)
	}
	if got := trialFile(t, ended.Dir, "00000", "own.log"); got != "run 1 from 0\nrun 2 from 1\nrun 3 from 1\n" {
		t.Errorf("%s\n%s", got, seen)
	}
	contains(t, seen.String(), "is damaged: state has", "it goes back to the checkpoint of iteration 1")
	replayed(t, o, ended)
}

// B-057: a checkpoint that was put in the place of another is damage, too: of the same trial, and of another.
func TestCheckpointInThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	o, seen := saves(t, `
run1() { touch stop1; }
after1() { chmod -R u+w $kept; rm -r $kept/000002; cp -a $kept/000001 $kept/000002; }
`, "failures: {retries: 2}\n")
	ended := finish(t, o)
	contains(t, seen.String(), "000002 is damaged: it holds the checkpoint of trial 0, attempt 1, iteration 1 instead "+
		"of that of trial 0, attempt 1, iteration 2", "it goes back to the checkpoint of iteration 1")
	replayed(t, o, ended)
	list := filepath.Join(folders(t, ended.Dir, "000001")[0], "MANIFEST.json")
	whole := text(t, list)
	for saved, other := range map[string]string{`"trial": 0`: `"trial": 8`, `"attempt": 1`: `"attempt": 9`,
		`"iteration": 1`: `"iteration": 3`} {
		if err := os.WriteFile(list, []byte(strings.Replace(whole, saved, other, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		contains(t, badlyExamined(t, ended.Dir, o.Plugins), "000001 is damaged: it holds the checkpoint of trial ",
			"instead of that of trial 0, attempt 1, iteration 1", strings.ReplaceAll(other[1:], `":`, ""))
	}
}

// Checkpoint removed by a person. Where none is left the trial begins anew, and says
// so.
func TestAllCheckpointsGone(t *testing.T) {
	t.Parallel()
	o, seen := saves(t, `
run1() { touch stop1; }
after1() { chmod -R u+w $kept; rm -r $kept/00*; }
run2() { kept=seen; mkdir -p seen/000001 seen/000002 seen/000003 seen/000004; }
`, "failures: {retries: 2}\n")
	ended := finish(t, o)
	if ended.Errored != 0 {
		t.Errorf("%+v\n%s", ended, seen)
	}
	if got := trialFile(t, ended.Dir, "00000", "own.log"); got != "run 1 from 0\nrun 2 from 0\n" {
		t.Errorf("%s\n%s", got, seen)
	}
	contains(t, seen.String(), "is damaged: MANIFEST.json: no such file or directory",
		"it goes back to the checkpoint of iteration 1", "it starts again without the checkpoint")
	replayed(t, o, ended)
}

// B-061: what is reported again after the checkpoint before the damaged one
// counts once.
func replayed(t *testing.T, o Options, ended Ended) {
	t.Helper()
	m := audit(t, ended.Dir, nil)
	if v := m.View(0); v.Results != 4 || v.Iteration != 4 {
		t.Errorf("%+v", v)
	}
	if err := replay.Check(t.Context(), ended.Dir, o.Plugins); err != nil {
		t.Error(err)
	}
	if left := folders(t, ended.Dir, "restored/*"); len(left) > 0 {
		t.Errorf("copies are left: %v", left)
	}
}

// folders are those among all trials' checkpoints.
func folders(t *testing.T, dir, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "trials", "*", "checkpoints", pattern))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// B-053, checkpoint.disk: the oldest go, and the newest stays.
func TestCheckpointDisk(t *testing.T) {
	t.Parallel()
	o, _ := saves(t, "", "checkpoint: {disk: 5KiB}\n")
	ended := finish(t, o)
	left := folders(t, ended.Dir, "00*")
	if len(left) != 2 || filepath.Base(left[1]) != "000004" {
		t.Errorf("%v", left)
	}
}

// B-053, B-054: in population based training a trial that continues from another's checkpoint takes
// it over without a copy, and nothing that nobody needs is left.
func TestClonesAreNotCopied(t *testing.T) {
	t.Parallel()
	o, _ := quick(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 12, any_params: true}}
space: {quality: {uniform: [0, 1]}}
scheduler: {plugin: pbt, interval: 2}
checkpoint: {every: 2, keep: 2}
trials: 6
concurrency: 3
`, pbt.Plugin)
	ended := finish(t, o)
	needed, cloned := map[string]bool{}, 0
	m := audit(t, ended.Dir, nil)
	names, err := os.ReadDir(filepath.Join(ended.Dir, "trials"))
	if err != nil {
		t.Fatal(err)
	}
	m.EachCheckpoint(func(x core.CheckpointRef) {
		needed[storage.CheckpointDir(filepath.Join(ended.Dir, "trials", names[x.Trial].Name()), x.ID)] = true
	})
	for _, dir := range folders(t, ended.Dir, "00*") {
		x, err := storage.CheckCheckpoint(dir, true)
		if err != nil {
			t.Error(err)
		}
		if !needed[dir] {
			t.Errorf("nobody needs %s", dir)
		}
		delete(needed, dir)
		if x.Parent != nil && x.Parent.Trial != x.Trial {
			cloned++
		}
	}
	wellExamined(t, ended.Dir, o.Plugins)
	if len(needed) > 0 || cloned == 0 {
		t.Errorf("missing: %v; %d trials continued from another's", needed, cloned)
	}
}

// What a host that died has left is removed by the next.
func TestGarbageIsCollected(t *testing.T) {
	t.Parallel()
	o, _ := saves(t, "", "checkpoint: {keep: 1}\n")
	ended := finish(t, o)
	kept := filepath.Dir(folders(t, ended.Dir, "00*")[0])
	garbage := []string{"000001", "000009", "000005.tmp", "000002.old", "restored/000001"}
	for _, name := range garbage {
		dir := filepath.Join(kept, name)
		err := errors.Join(os.MkdirAll(filepath.Join(dir, "files"), 0o700),
			os.WriteFile(filepath.Join(dir, "MANIFEST.json"), []byte("{}"), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	again := strings.Replace(text(t, o.File), "space:", "trials: 2\nspace:", 1)
	if err := os.WriteFile(o.File, []byte(again), 0o600); err != nil {
		t.Fatal(err)
	}
	finish(t, o)
	for _, name := range garbage {
		if _, err := os.Stat(filepath.Join(kept, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := storage.CheckCheckpoint(filepath.Join(kept, "000004"), true); err != nil {
		t.Error(err)
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// B-051, B-071: checkpoints of a trial count in the order in which it made them, however
// long each takes: the last one is what a restart continues from.
func TestCheckpointsCountInOrder(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "hasty.sh")
	if err := os.WriteFile(script, []byte(`
for i in 1 2 3 4 5 6 7 8; do
	dir=$TUNEHOST_CHECKPOINT_DIR/c$i
	mkdir $dir
	head -c $((i == 1 ? 8000000 : 1)) /dev/zero > $dir/state
	echo "$dir" > $dir/name
	lines="$lines{\"score\": $i, \"iteration\": $i, \"checkpoint\": \"$dir\"}
"
done
printf %s "$lines"
`), 0o600); err != nil {
		t.Fatal(err)
	}
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, `+script+`]}
space: {x: 1}
`)
	ended := finish(t, o)
	var saved []uint64
	audit(t, ended.Dir, func(_ *core.Machine, e core.Event) {
		if s, ok := e.(*core.CheckpointSaved); ok {
			saved = append(saved, s.Iteration)
		}
	})
	if len(saved) != 8 || !slices.IsSorted(saved) {
		t.Errorf("saved are the checkpoints of iterations %v, want 1 to 8 in order", saved)
	}
}
