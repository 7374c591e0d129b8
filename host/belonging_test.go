package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// population trains in the open: it logs what it has trained, with which rate, and what came of
// it, before it says so. Values rise and fall, so that the best is not the last.
const population = `
rate=$1; log=$2; i=0; s=0
[ -n "$TUNEHOST_CHECKPOINT" ] && read i s < "$TUNEHOST_CHECKPOINT/state"
while [ $i -lt 12 ]; do
	i=$((i + 1))
	s=$(awk -v s=$s -v r=$rate -v i=$i 'BEGIN { printf "%.6f", 0.7 * s + r + 0.5 * sin(7 * i + 100 * r) }')
	dir=$TUNEHOST_CHECKPOINT_DIR/$i
	mkdir -p $dir && echo "$i $s" > $dir/state
	echo "$TUNEHOST_TRIAL_ID $rate $i $s" >> $log
	echo "{\"score\": $s, \"iteration\": $i, \"checkpoint\": \"$dir\"}"
	while [ -d $dir ]; do sleep 0.01; done
done
`

// trained is a line of the program's log.
type trained struct {
	trial     string
	rate      float64
	iteration uint64
	score     float64
}

// B-154: what a trial shows fits what its program has trained: parameters, iteration, value, how
// many results, checkpoint. So does the best by each scope, in all eight populations.
func TestValuesBelongToWhatWasTrained(t *testing.T) {
	t.Parallel()
	moved := 0
	for seed := range 8 {
		dir, log := trainPopulation(t, seed)
		e, err := view.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		list, err := e.Trials(view.Chosen{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			fits(t, log, &x)
			countsFit(t, e, log, &x)
			if e.Now().Machine.View(x.Number).Since > 1 {
				moved++
			}
		}
		for _, scope := range []view.Scope{view.Last, view.Min, view.Max, view.All} {
			bestFits(t, e, log, scope)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if moved < 8 {
		t.Errorf("only %d trials continued from another", moved)
	}
}

func trainPopulation(t *testing.T, seed int) (dir string, log map[trained]bool) {
	t.Helper()
	folder := t.TempDir()
	script, logged := filepath.Join(folder, "train.sh"), filepath.Join(folder, "log")
	if err := os.WriteFile(script, []byte(population), 0o600); err != nil {
		t.Fatal(err)
	}
	keep := []string{"", "checkpoint: {keep: 1, score: score}\n"}[seed%2]
	o, seen := quiet(t, fmt.Sprintf(`
version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, %s, "{rate}", %s]}
space: {rate: {uniform: [0, 1]}}
scheduler: {plugin: pbt, interval: 4}
trials: 6
concurrency: 3
seed: %d
%s`, script, logged, seed, keep))
	ended, err := run(t.Context(), o)
	if err != nil || ended.Errored > 0 {
		t.Fatalf("%v\n%s", err, seen)
	}
	return ended.Dir, readLog(t, logged)
}

func readLog(t *testing.T, path string) map[trained]bool {
	t.Helper()
	log := map[trained]bool{}
	for line := range strings.Lines(text(t, path)) {
		var x trained
		if _, err := fmt.Sscan(line, &x.trial, &x.rate, &x.iteration, &x.score); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		log[x] = true
	}
	return log
}

func rateOf(t *testing.T, params []byte) float64 {
	t.Helper()
	var p struct{ Rate float64 }
	if err := json.Unmarshal(params, &p); err != nil {
		t.Fatal(err)
	}
	return p.Rate
}

// fits checks what a trial shows, and what is in its checkpoint.
func fits(t *testing.T, log map[trained]bool, x *view.Trial) {
	t.Helper()
	score, _ := x.Metric("score")
	shown := trained{x.ID, rateOf(t, x.Params), x.Iteration, score}
	if !log[shown] {
		t.Errorf("trial %d shows %+v, which it has not trained", x.Number, shown)
	}
	checkpointFits(t, log, shown, x.Checkpoint, x.CheckpointAt)
	var written struct{ Rate float64 }
	if err := json.Unmarshal([]byte(text(t, filepath.Join(x.Dir, "params.json"))), &written); err != nil ||
		written.Rate != shown.rate {
		t.Errorf("trial %d shows %+v, and params.json has %v: %v", x.Number, shown, written, err)
	}
}

func checkpointFits(t *testing.T, log map[trained]bool, of trained, dir string, at uint64) {
	t.Helper()
	if dir == "" {
		return
	}
	of.iteration = at
	saved, value, _ := strings.Cut(strings.TrimSpace(text(t, filepath.Join(dir, "state"))), " ")
	score, err := strconv.ParseFloat(value, 64)
	if of.score = score; err != nil || saved != strconv.FormatUint(at, 10) || !log[of] {
		t.Errorf("%s, of iteration %d, has %s %s; trained was no %+v: %v", dir, at, saved, value, of, err)
	}
}

// countsFit compares the results of the record with the program's log, one by one.
func countsFit(t *testing.T, e *view.Recorded, log map[trained]bool, x *view.Trial) {
	t.Helper()
	results, err := e.Results(x.Number)
	if err != nil || int(x.Results) != len(results) {
		t.Errorf("trial %d shows %d results, and has %d: %v", x.Number, x.Results, len(results), err)
	}
	lines := strings.Split(strings.TrimSpace(text(t, filepath.Join(x.Dir, "result.jsonl"))), "\n")
	if len(lines) != len(results) {
		t.Fatalf("trial %d has %d results, and %d lines in result.jsonl", x.Number, len(results), len(lines))
	}
	for i, r := range results {
		lineFits(t, lines[i], &r)
		if is := (trained{x.ID, rateOf(t, r.Params), r.Iteration, r.Metrics[0].Value}); !log[is] {
			t.Errorf("trial %d has a result %+v, which it has not trained", x.Number, is)
		}
	}
}

// lineFits: a line of result.jsonl is the result, and has its parameters where they are not those
// that the trial began with.
func lineFits(t *testing.T, line string, r *view.Result) {
	t.Helper()
	var x struct {
		Iteration uint64
		Score     float64
		Params    *struct{ Rate float64 } `json:"trial_params"`
	}
	err := json.Unmarshal([]byte(line), &x)
	if err != nil || x.Iteration != r.Iteration || x.Score != r.Metrics[0].Value || x.Params != nil &&
		x.Params.Rate != rateOf(t, r.Params) {
		t.Errorf("%s, but the result is %+v: %v", line, r, err)
	}
}

// bestFits checks the best by a scope, against the log and its checkpoint.
func bestFits(t *testing.T, e *view.Recorded, log map[trained]bool, scope view.Scope) {
	t.Helper()
	best, ok, err := e.Best(view.Query{Scope: scope})
	if err != nil || !ok {
		t.Fatalf("%s: %t, %v", scope, ok, err)
	}
	shown := trained{best.ID, rateOf(t, best.Params), best.Iteration, best.Value}
	if !log[shown] {
		t.Errorf("the best by %s is %+v, which was not trained", scope, shown)
	}
	if best.Checkpoint != "" && best.CheckpointAt != best.Iteration {
		t.Errorf("the best by %s is of iteration %d, its checkpoint of %d", scope, best.Iteration, best.CheckpointAt)
	}
	checkpointFits(t, log, shown, best.Checkpoint, best.CheckpointAt)
	checkpointFits(t, log, shown, best.Nearest, best.NearestAt)
	if e.Now().Machine.Spec().Checkpoint.Keep == 0 && best.Checkpoint == "" {
		t.Errorf("the best by %s is of iteration %d, and its checkpoint is not found: %+v", scope, best.Iteration, best)
	}
	if _, err := os.Stat(best.Dir); errors.Is(err, os.ErrNotExist) || best.Number >= core.TrialNo(6) {
		t.Errorf("%+v", best)
	}
}
