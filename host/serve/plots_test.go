package serve_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/journalview"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// read reads an answer.
func read[T any](c client, path string) (x T) {
	c.t.Helper()
	if err := json.Unmarshal([]byte(c.get(path)), &x); err != nil {
		c.t.Fatal(err)
	}
	return x
}

type curvesAnswer struct {
	Metric, Mode string
	Total        int
	Trials       []struct {
		Number     core.TrialNo
		State      string
		Iterations []uint64
		Values     []float64
	}
}

// TestPlotsAgree covers B-141: the data of the plots are the numbers of the command line.
func TestPlotsAgree(t *testing.T) {
	root := recorded(t)
	c := serving(t, root)
	e, err := view.Open(filepath.Join(root, "digits"))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	curves := read[curvesAnswer](c, "/digits/curves?points=0&trials=0")
	if curves.Metric != "accuracy" || curves.Mode != "max" || curves.Total != 12 || len(curves.Trials) != 12 {
		t.Fatalf("%+v", curves)
	}
	for _, x := range curves.Trials {
		results, err := e.Results(x.Number)
		if err != nil || len(results) != len(x.Values) || len(results) != len(x.Iterations) {
			t.Fatalf("trial %d: %v, %d results, %d values", x.Number, err, len(results), len(x.Values))
		}
		for i := range results {
			if v, _ := results[i].Metric("accuracy"); v != x.Values[i] || results[i].Iteration != x.Iterations[i] {
				t.Errorf("trial %d: %g at %d, want %+v", x.Number, x.Values[i], x.Iterations[i], results[i])
			}
		}
	}
	best, _, err := e.Best(view.Query{})
	if err != nil {
		t.Fatal(err)
	}
	few := read[curvesAnswer](c, "/digits/curves?points=4&trials=3")
	if few.Total != 12 || len(few.Trials) != 3 || !strings.Contains(fmt.Sprintf("%+v", few.Trials),
		fmt.Sprintf("{Number:%d ", best.Number)) || len(few.Trials[0].Values) != 4 {
		t.Errorf("of few trials: %+v, want the best, %d", few, best.Number)
	}
	history := read[struct {
		Total int
		Steps []struct{ Value, Best float64 }
	}](c, "/digits/history?points=4")
	if n := len(history.Steps); history.Total != 12 || n > 4 || history.Steps[n-1].Best != float64(best.Value) {
		t.Errorf("%+v, want at last %v", history, best.Value)
	}
}

// TestSpace: what is searched, for what, and how.
func TestSpace(t *testing.T) {
	x := read[view.Space](serving(t, recorded(t)), "/digits/space")
	if len(x.Parameters) != 3 || x.Parameters[0].Type != "float" || !x.Parameters[0].Log ||
		*x.Parameters[0].Low != 1e-4 || *x.Parameters[1].High != 128 || len(x.Parameters[2].Choices) != 2 {
		t.Errorf("parameters: %+v", x.Parameters)
	}
	if len(x.Objectives) != 1 || x.Objectives[0] != (view.Objective{Metric: "accuracy", Mode: "max"}) ||
		strings.Join(x.Metrics, " ") != "accuracy loss" || string(x.Settings["trials"]) != "12" ||
		x.Searcher.Name != "auto" || x.Scheduler.Name != "fifo" {
		t.Errorf("%+v", x)
	}
}

// TestTimeline: no two trials are in one place at a time.
func TestTimeline(t *testing.T) {
	c := serving(t, recorded(t))
	x := read[struct {
		Total  int
		Lanes  []view.Lane
		Trials []struct{ Segments []view.Segment }
	}](c, "/digits/timeline")
	if x.Total != 12 || len(x.Trials) != 12 || len(x.Lanes) != 4 || x.Lanes[3].Node != "lab" {
		t.Fatalf("%+v", x)
	}
	free := make([]view.Float, len(x.Lanes))
	for no, trial := range x.Trials {
		last := trial.Segments[len(trial.Segments)-1]
		if last.State != "running" || last.Lane == nil || last.To != last.From+40 || last.From < free[*last.Lane] {
			t.Errorf("trial %d: %+v, but the lane is free from %v", no, last, free)
		}
		free[*last.Lane] = last.To
	}
	if one := read[view.Timeline](c, "/digits/timeline?from_s=81&offset=1&limit=1"); one.Total != 4 ||
		len(one.Trials) != 1 || one.Trials[0].Number != 9 {
		t.Errorf("at the end: %+v", one)
	}
	if some := read[view.Timeline](c, "/digits/timeline?spread=true&limit=4"); some.Total != 12 ||
		fmt.Sprint(numbersOf(some)) != "[0 3 6 9]" {
		t.Errorf("4 that are evenly spread: %v of %d", numbersOf(some), some.Total)
	}
	for _, query := range []string{"from_s=nan", "to_s=NaN", "from_s=inf", "to_s=Infinity"} {
		a, text := c.send("GET", "/digits/timeline?"+query, "")
		if name, _, _ := strings.Cut(query, "="); a.StatusCode != 422 || !strings.Contains(text, name+" is ") {
			t.Errorf("%s: %s %s", query, a.Status, text)
		}
	}
}

func numbersOf(x view.Timeline) (list []core.TrialNo) {
	for _, t := range x.Trials {
		list = append(list, t.Number)
	}
	return list
}

// TestJournal: pages of the record are those of the command journal.
func TestJournal(t *testing.T) {
	root := recorded(t)
	c := serving(t, root)
	d, err := storage.At(filepath.Join(root, "digits"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := journalview.Open(d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var texts []string
	var about []bool
	err = r.Each(func(e *journalview.Entry) error {
		texts, about = append(texts, e.Kind()+" "+e.Text()), append(about, e.About(3))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	type page struct {
		Total, Next int
		Entries     []struct {
			Number     int
			Kind, Text string
		}
	}
	seen := 0
	for after := 0; after < len(texts); {
		p := read[page](c, fmt.Sprintf("/digits/journal?after=%d&limit=97", after))
		for _, x := range p.Entries {
			if seen++; x.Number != seen || x.Kind+" "+x.Text != texts[seen-1] {
				t.Fatalf("%+v, want %d %q", x, seen, texts[seen-1])
			}
		}
		after = p.Next
	}
	if seen != len(texts) {
		t.Errorf("%d entries, want %d", seen, len(texts))
	}
	p := read[page](c, "/digits/journal?after=-5")
	if len(p.Entries) != 5 || p.Next != len(texts) || p.Entries[4].Number != len(texts) {
		t.Errorf("the last five: %+v", p)
	}
	for _, x := range read[page](c, "/digits/journal?after=0&trial=3&limit=1000").Entries {
		if !about[x.Number-1] {
			t.Errorf("not about trial 3: %+v", x)
		}
	}
}

// TestTrialPage: the page of a trial has why it failed, and a command that runs it again.
func TestTrialPage(t *testing.T) {
	root := t.TempDir()
	text := strings.Replace(source, "[train]", `[echo, "--rate={lr}", "{flags}"]`, 1)
	w := viewtest.New(filepath.Join(root, "digits"), []byte(text), 7)
	w.Files, w.Fails = true, map[core.TrialNo]string{2: "no such <b>data</b>"}
	w.Start(4)
	w.Run(-1)
	w.Close()
	x := read[struct {
		State       string
		Params      struct{ Lr json.Number }
		Reasons     []struct{ State, Reason string }
		Error_lines string
		Rerun       string
		Checkpoints []struct{ Dir string }
	}](serving(t, root), "/digits/trials/2")
	if x.State != "ERROR" || len(x.Reasons) != 1 || x.Reasons[0].State != "ERROR" ||
		x.Reasons[0].Reason != "no such <b>data</b>" || x.Error_lines != "no such <b>data</b>" {
		t.Errorf("%+v", x)
	}
	out, err := exec.Command("sh", "-c", x.Rerun).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "--rate="+x.Params.Lr.String()+" --lr="+x.Params.Lr.String()) {
		t.Errorf("%s: %v, %s", x.Rerun, err, out)
	}
}

// TestRerunVariables: the command that runs a trial again sets the variables of its parameters.
func TestRerunVariables(t *testing.T) {
	root := t.TempDir()
	text := strings.Replace(source, "[train]", `[sh, -c, 'echo "$TUNEHOST_PARAM_LR|$TUNEHOST_PARAM_NOTE|`+
		`$TUNEHOST_TRIAL_ID|$TUNEHOST_EXPERIMENT|$TUNEHOST_SEED"']`, 1)
	text = strings.Replace(text, "space: {", `space: {note: {choice: ["it's $HOME; a \"b\""]}, `, 1)
	w := viewtest.New(filepath.Join(root, "digits"), []byte(text), 7)
	w.Files = true
	w.Start(1)
	w.Run(-1)
	w.Close()
	x := read[struct {
		Trial  string
		Params struct {
			Lr   json.Number
			Note string
		}
		Rerun string
	}](serving(t, root), "/digits/trials/0")
	out, err := exec.Command("sh", "-c", x.Rerun).CombinedOutput()
	want := x.Params.Lr.String() + "|" + x.Params.Note + "|" + x.Trial + "|digits|" +
		strconv.FormatUint(seeds.For(7, seeds.Trial, 0), 10) + "\n"
	if err != nil || string(out) != want {
		t.Errorf("%s: %v, %q, want %q", x.Rerun, err, out, want)
	}
}
