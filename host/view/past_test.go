package view_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// restarted writes an experiment whose hosts die and whose trials save, are stopped, take over from others and report
// NaN, as a seed says.
func restarted(t *testing.T, seed uint64) *viewtest.Writer {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	w := write(t, file)
	w.Iterations, w.Fails = 5, map[core.TrialNo]string{3: "no data"}
	w.Metrics = func(no core.TrialNo, iteration uint64) []float64 {
		v := float64(r.IntN(50))
		if r.IntN(9) == 0 {
			v = math.NaN()
		}
		if iteration%2 == 0 {
			return []float64{v} // other metrics than before
		}
		return []float64{v, 1 - v}
	}
	w.Start(3)
	for i := range 12 {
		w.Run(r.IntN(3))
		if n := w.Machine.Trials(); n > 2 {
			explore(w, core.TrialNo(r.IntN(n)), core.TrialNo(r.IntN(n)), 1, fmt.Sprintf(`{"lr":0.%d,"units":3}`, 1+i))
		}
		if r.IntN(3) == 0 {
			w.Host(viewtest.Epoch.Add(time.Duration(i)*time.Hour), 3)
		}
	}
	w.Run(-1)
	w.Crash()
	return w
}

// What is kept of the past is what a walk through the whole record finds, however often trials were restarted (B-061).
func TestPastIsTheRecord(t *testing.T) {
	for seed := range uint64(30) {
		w := restarted(t, seed)
		e := open(t, w)
		all, err := e.AllResults(func(core.TrialNo) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		for no := range core.TrialNo(e.Count()) {
			got, err := e.Results(no)
			if err != nil || asJSON(t, got) != asJSON(t, append([]view.Result{}, all[no]...)) {
				t.Fatalf("seed %d, trial %d: %v\n got %s\nwant %s", seed, no, err, asJSON(t, got), asJSON(t, all[no]))
			}
			for i := range got {
				if string(got[i].Params) != string(all[no][i].Params) {
					t.Fatalf("seed %d, trial %d, result %d: %s, want %s", seed, no, i, got[i].Params, all[no][i].Params)
				}
			}
		}
		for _, q := range []view.Query{{}, {Metric: "loss", Mode: "max"}} {
			got, err := e.Curve(q)
			if want := walkedCurve(t, e, q); err != nil || asJSON(t, got) != asJSON(t, want) {
				t.Fatalf("seed %d: %v\n got %s\nwant %s", seed, err, asJSON(t, got), asJSON(t, want))
			}
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// walkedCurve finds the improvements by walking through the record: all results are kept until they are taken back.
func walkedCurve(t *testing.T, e *view.Recorded, q view.Query) (curve []view.Step) {
	t.Helper()
	metric, mode := e.Objectives()[0].Metric, e.Objectives()[0].Mode
	if q.Metric != "" {
		metric, mode = q.Metric, stat.Max
	}
	type result struct {
		view.Step
		at      int64
		attempt uint32
	}
	var all []result
	var added []int64
	takeBack := func(no core.TrialNo, since uint32, iteration uint64) {
		all = slices.DeleteFunc(all, func(r result) bool {
			return r.Number == no && r.attempt >= since && r.Iteration > iteration
		})
	}
	err := e.Replay(func(m view.Moment) error {
		v, now := m.State.Machine.View(m.Trial), m.State.Machine.Now()
		switch m.Kind {
		case core.SawAdded:
			added = append(added, now)
		case core.SawStarted:
			takeBack(m.Trial, v.Since, v.At)
		case core.SawResult:
			takeBack(m.Trial, v.Since, m.Iteration-1)
			r := result{view.Step{Value: view.Float(math.NaN()), Trial: e.Trial(m.Trial).ID, Number: m.Trial,
				Iteration: m.Iteration, Seconds: view.Float(float64(now) / 1e9)}, now, m.Attempt}
			for _, x := range m.Metrics {
				if m.State.Machine.MetricName(x.ID) == metric {
					r.Value = view.Float(x.Value)
				}
			}
			all = append(all, r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.SliceStable(all, func(i, j int) bool {
		return all[i].at < all[j].at || all[i].at == all[j].at && all[i].Number < all[j].Number
	})
	until := func(n int, at func(int) int64, now int64) (count int) {
		for i := range n {
			if at(i) <= now {
				count++
			}
		}
		return count
	}
	for _, r := range all {
		n := len(curve)
		if v := float64(r.Value); math.IsNaN(v) || n > 0 && !stat.Better(v, float64(curve[n-1].Value), mode) {
			continue
		}
		r.Trials = until(len(added), func(i int) int64 { return added[i] }, r.at)
		r.Results = uint64(until(len(all), func(i int) int64 { return all[i].at }, r.at))
		curve = append(curve, r.Step)
	}
	return curve
}

// An attempt that was ordered and never started takes no result back: the trial is stopped after
// the next attempt was ordered from an earlier checkpoint, as for a late decision about its last result.
func TestNeverStartedTakesNothingBack(t *testing.T) {
	w := write(t, "version: 1\nobjective: {metric: accuracy, mode: max}\nspace: {lr: {uniform: [0, 1]}}\ntrials: 1\n"+
		"checkpoint: {every: 2}\n")
	w.Iterations = 9
	w.Start(1)
	w.Run(3)
	w.Host(viewtest.Epoch.Add(time.Hour), 1)
	w.Event(&core.StopRequested{Trial: 0})
	w.Event(&core.AttemptEnded{Trial: 0, Attempt: 2})
	w.Crash()
	e := open(t, w)
	got, err := e.Results(0)
	if state := e.Now().Machine.State(0); err != nil || len(got) != 3 || !state.Final() {
		t.Errorf("%v: %d results, %v", state, len(got), err)
	}
	all, err := e.AllResults(func(core.TrialNo) bool { return true })
	if err != nil || len(all[0]) != len(got) {
		t.Errorf("%d results of the walk, %v", len(all[0]), err)
	}
}

// A reader that continues has the same past as one that begins when everything is written.
func TestPastContinues(t *testing.T) {
	w := write(t, file)
	w.Start(2)
	early, err := view.OpenFollowed(w.Dir.Path(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	for range 4 {
		w.Run(1)
		if _, err := early.Refresh(); err != nil {
			t.Fatal(err)
		}
	}
	w.Run(-1)
	w.Close()
	if _, err := early.Refresh(); err != nil {
		t.Fatal(err)
	}
	late, err := view.OpenFollowed(filepath.Clean(w.Dir.Path()), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if !reflect.DeepEqual(early.Past(), late.Past()) {
		t.Errorf("%+v\n%+v", early.Past().Course, late.Past().Course)
	}
}
