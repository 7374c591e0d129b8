package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
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
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/bohb"
	"github.com/tunehost/tunehost/plugins/searchers/cmaes"
	"github.com/tunehost/tunehost/plugins/searchers/evolution"
	"github.com/tunehost/tunehost/plugins/searchers/gp"
	"github.com/tunehost/tunehost/plugins/searchers/nsga2"
	"github.com/tunehost/tunehost/plugins/searchers/sobol"
	"github.com/tunehost/tunehost/plugins/searchers/tpe"
)

// taught runs an experiment to learn from, and makes one that does.
func taught(t *testing.T, first, second string, more ...any) (source Ended, o Options, seen *testplace.Screen) {
	t.Helper()
	other, _ := quick(t, first, more...)
	other.Name = "first"
	source = finish(t, other)
	o, seen = quick(t, strings.ReplaceAll(second, "FIRST", source.Dir), more...)
	o.Name = "second"
	return source, o, seen
}

const teaching = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: wobbly}
space: {x: {uniform: [0, 1]}}
seed: 3
`

// What another experiment has found is told to the searcher before anything else,
// under numbers that no trial here has; by later hosts again, whatever has become of
// the other experiment since.
func TestLearnFrom(t *testing.T) {
	e := &ear{}
	source, o, _ := taught(t, teaching+"trials: 9\nrepeat: 2\n", teaching+"searcher: ear\nlearn_from: FIRST\ntrials: "+
		"3\n", e.plugin(), wobbly(3))
	finish(t, o)
	first := audit(t, source.Dir, nil)
	if err := os.RemoveAll(source.Dir); err != nil {
		t.Fatal(err)
	}
	finish(t, o)
	events := e.heard(sdk.TrialAdded, sdk.TrialCompleted, sdk.TrialFailed)
	if len(events) != 2*(9+3) {
		t.Fatalf("it heard %d events: %+v", len(events), events)
	}
	failed := 0
	for i := range 9 {
		added, ended := events[2*i], events[2*i+1]
		no := math.MaxUint32 - uint32(i)
		if added.Trial != no || ended.Trial != no || added.Kind != sdk.TrialAdded || added.Number != uint64(2*i+1) {
			t.Fatalf("lesson %d is %+v and %+v", i, added, ended)
		}
		var p struct{ X float64 }
		if err := json.Unmarshal(first.Params(core.TrialNo(2*i)), &p); err != nil || added.Point[0] != p.X {
			t.Errorf("lesson %d has the point %v, want %v", i, added.Point, p.X)
		}
		sum, n := 0.0, 0.0
		for r := range core.TrialNo(2) {
			if s, ok := scoreOf(first, core.TrialNo(2*i)+r); ok {
				sum, n = sum+s.Last, n+1
			}
		}
		switch {
		case n == 0 && ended.Kind == sdk.TrialFailed:
			failed++
		case n == 0 || ended.Kind != sdk.TrialCompleted || math.Abs(ended.Losses[0]+sum/n) > 1e-12:
			t.Errorf("lesson %d ended %+v, want the mean %v", i, ended, sum/n)
		}
	}
	if failed == 0 {
		t.Error("none failed: the test shows less than it could")
	}
	if own := events[18]; own.Trial != 0 {
		t.Errorf("after the lessons comes %+v", own)
	}
}

// The searcher is told what trials of another experiment reported on the way, as of its own trials: it can tell the
// last value of a trial that was stopped early from that of a complete one.
func TestLearnsWhereTrialsWereStopped(t *testing.T) {
	e := &ear{}
	first := teaching + "searcher: random\ntrials: 8\nconcurrency: 1\n" +
		"scheduler: {plugin: asha, max: 2, reduction_factor: 2}\n"
	second := teaching + "searcher: ear\nlearn_from: FIRST\ntrials: 1\n"
	_, o, seen := taught(t, first, second, e.plugin(), wobbly(0), asha.Plugin)
	o.Verbose = 1
	finish(t, o)
	early := 0
	last := map[uint32]sdk.Event{}
	for _, x := range e.heard(sdk.ResultReported, sdk.TrialCompleted) {
		was := last[x.Trial]
		switch {
		case x.Trial < 8:
			continue
		case x.Kind == sdk.ResultReported && x.Iteration != was.Iteration+1:
			t.Errorf("after %+v comes %+v", was, x)
		case x.Kind == sdk.TrialCompleted && (x.Iteration != was.Iteration || x.Losses[0] != was.Losses[0]):
			t.Errorf("it ended with %+v after %+v", x, was)
		case x.Kind == sdk.TrialCompleted && x.Iteration < 2:
			early++
		}
		last[x.Trial] = x
	}
	if len(last) != 8 || early == 0 || early == 8 {
		t.Fatalf("%d of %d trials were stopped early: the test shows less than it could", early, len(last))
	}
	contains(t, seen.String(), fmt.Sprintf(", %d of them only up to where they were stopped early", early))
}

// What was learned is a file of the experiment: one that was changed before it was
// in the record is refused.
func TestChangedLessons(t *testing.T) {
	e := &ear{}
	_, o, _ := taught(t, teaching+"trials: 5\n", teaching+"searcher: ear\nlearn_from: [FIRST]\ntrials: 2\n", e.plugin(),
		wobbly(0))
	dir := finish(t, o).Dir
	cut(t, dir, 2)
	for _, text := range []string{"{", `{"from":"x","params":{"x":1e999}}`, ""} {
		if err := os.WriteFile(filepath.Join(dir, "learned.jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		contains(t, refused(t, o), "learned.jsonl was changed since the experiment began: put it back")
	}
}

// A host that dies while the record learns: the next one continues where it was.
func TestLearningGoesOn(t *testing.T) {
	for _, kept := range []int{1, 2, 4, 7} {
		t.Run(fmt.Sprint(kept), func(t *testing.T) {
			e := &ear{}
			_, o, _ := taught(t, teaching+"trials: 5\n", teaching+"searcher: ear\nlearn_from: [FIRST]\ntrials: 2\n",
				e.plugin(), wobbly(0))
			cut(t, finish(t, o).Dir, kept)
			m := audit(t, finish(t, o).Dir, nil)
			if m.Learned() != 5 || m.Count(core.Terminated) != 2 {
				t.Errorf("it learned of %d trials and ran %d", m.Learned(), m.Count(core.Terminated))
			}
		})
	}
}

// cut leaves the first records of an experiment.
func cut(t *testing.T, path string, kept int) {
	t.Helper()
	dir, err := storage.At(path)
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	err = history.Walk(dir.Journal(), func(x *history.Step) error {
		if records = append(records, bytes.Clone(x.Bytes)); len(records) == kept {
			return history.ErrStop
		}
		return nil
	})
	file, _, failed := runfile.Read(dir)
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	id, _ := file.ID()
	forgetResults(t, path, 0)
	if err := os.RemoveAll(dir.Journal()); err != nil {
		t.Fatal(err)
	}
	fs, err := journal.MakeDir(dir.Journal())
	if err != nil {
		t.Fatal(err)
	}
	r, err := journal.Create(fs, journal.Options{RunID: id})
	if err == nil {
		_, err = r.Append(records)
	}
	if err != nil || r.Close() != nil {
		t.Fatal(err)
	}
	if _, _, err := record.Parse(records[0]); err != nil {
		t.Fatal(err)
	}
}

// Trials that could not have run here are left out, and counted.
func TestLearnFromAnotherSpace(t *testing.T) {
	first := strings.Replace(teaching, "{x: {uniform: [0, 1]}}", "{x: {uniform: [0, 1]}, c: {choice: [1, 2, 7]}, n: "+
		"{grid: [1, 2.5]}, k: {choice: [3, 4]}}", 1) + "searcher: random\ntrials: 40\n"
	second := strings.Replace(teaching, "{x: {uniform: [0, 1]}}", "{x: {uniform: [0, 0.5]}, c: {choice: [2, 7, 9]}, "+
		"n: {int: [1, 5]}, k: 3}", 1) + "searcher: random\nlearn_from: FIRST\nconstraints: x < 0.4\n"
	source, o, seen := taught(t, first, second, wobbly(0))
	o.Verbose = 1
	m := audit(t, finish(t, o).Dir, nil)
	want := 0
	for _, text := range params(audit(t, source.Dir, nil)) {
		var p struct{ X, C, N, K float64 }
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		if p.X < 0.4 && p.C != 1 && p.N == 1 && p.K == 3 {
			want++
		}
	}
	if want == 0 || m.Learned() != want {
		t.Errorf("it learned of %d trials, want %d", m.Learned(), want)
	}
	contains(t, seen.String(), fmt.Sprintf("the searcher knows %d of 80", want), `its "c" is outside`,
		`its "n" is outside`, `its "x" is outside`, `"k" is another there`, "breaks a constraint")
}

func TestLearnFromMistakes(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{teaching, teaching + "learn_from: FIRST/nothing\n", "there is no experiment here"},
		{teaching, teaching + "learn_from: [FIRST, FIRST]\n", "it is named twice"},
		{strings.Replace(teaching, "max", "min", 1), teaching + "learn_from: FIRST\n",
			"score is optimised as min there, and as max here"},
	} {
		_, o, _ := taught(t, c.first, c.second, wobbly(0))
		contains(t, refused(t, o), "learn_from: ", c.want)
		if left, _ := filepath.Glob(filepath.Join(o.Storage, "second", "experiment.yaml")); left != nil {
			t.Errorf("it left %v", left)
		}
	}
}

// Every bundled searcher copes with trials that it did not suggest, under numbers
// that no trial of its own has; and what it does is a function of the history.
func TestSearchersLearn(t *testing.T) {
	plugins := []any{tpe.Plugin, bohb.Plugin, cmaes.Plugin, evolution.Plugin, gp.Plugin, nsga2.Plugin, sobol.Plugin,
		wobbly(0)}
	for _, name := range []string{"random", "grid", "sobol", "tpe", "bohb", "cmaes", "evolution", "gp", "nsga2"} {
		t.Run(name, func(t *testing.T) {
			_, o, _ := taught(t, teaching+"trials: 30\n",
				teaching+"learn_from: FIRST\ntrials: 12\nsearcher: "+name+"\n", plugins...)
			if name == "grid" {
				o.Sets = []string{"trials=3"} // it has five points
			}
			m := audit(t, finish(t, o).Dir, nil)
			if m.Learned() != 30 || m.Count(core.Terminated) != m.Trials() || m.Trials() < 3 {
				t.Errorf("it learned of %d trials, and %d of %d ended", m.Learned(), m.Count(core.Terminated),
					m.Trials())
			}
		})
	}
}

// A searcher that knows good points begins near them.
func TestLearnedPointsAreUsed(t *testing.T) {
	space := "{x: {uniform: [0, 1]}, y: {uniform: [0, 1]}, z: {uniform: [0, 1]}}"
	// One at a time, so that the order of the results, and with it the test, does not depend on the machine's load.
	first := strings.Replace(teaching, "{x: {uniform: [0, 1]}}", space, 1) + "trials: 60\nconcurrency: 1\n" +
		"searcher: random\n"
	mean := func(searcher, more string) float64 {
		second := strings.Replace(teaching, "{x: {uniform: [0, 1]}}", space, 1) +
			"trials: 8\nconcurrency: 1\nsearcher: " + searcher + "\n" + more
		_, o, _ := taught(t, first, second, tpe.Plugin, cmaes.Plugin, gp.Plugin, wobbly(0))
		m := audit(t, finish(t, o).Dir, nil)
		sum := 0.0
		for _, text := range params(m) {
			var p struct{ X float64 }
			if err := json.Unmarshal([]byte(text), &p); err != nil {
				t.Fatal(err)
			}
			sum += p.X
		}
		return sum / float64(m.Trials())
	}
	// The larger x, the better; the seed's part is smaller than that.
	for _, searcher := range []string{"tpe", "cmaes", "gp"} {
		fresh, taught := mean(searcher, ""), mean(searcher, "learn_from: FIRST\n")
		t.Logf("%s: %.3f, without knowledge %.3f", searcher, taught, fresh)
		if taught < fresh+0.1 || taught < 0.6 {
			t.Errorf("%s: the first suggestions have %v on average, without knowledge %v", searcher, taught, fresh)
		}
	}
}

// B-105: the means of large values that other experiments learn are finite.
func TestLearnsMeansOfLargeValues(t *testing.T) {
	vast := wobbly(0)
	vast.Open = func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
			return run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: 1.5e308}}}, nil)
		}), sdk.TrainableTraits{}, nil
	}
	e := &ear{}
	_, o, _ := taught(t, teaching+"trials: 2\nrepeat: 2\n", teaching+"searcher: ear\nlearn_from: FIRST\ntrials: 1\n",
		e.plugin(), vast)
	finish(t, o)
	ends := e.heard(sdk.TrialCompleted)
	for _, end := range ends {
		if len(end.Losses) != 1 || end.Losses[0] != -1.5e308 {
			t.Errorf("trial %d was told with %v", end.Trial, end.Losses)
		}
	}
	if len(ends) < 2 {
		t.Errorf("it heard of %d ends", len(ends))
	}
}
