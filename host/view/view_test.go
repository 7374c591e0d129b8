package view_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

const file = `version: 1
objective: {metric: accuracy, mode: max}
space: {lr: {uniform: [0, 1]}, units: {int: [1, 9]}}
trials: 4
checkpoint: {every: 1}
`

func write(t *testing.T, source string) *viewtest.Writer {
	t.Helper()
	return viewtest.New(filepath.Join(t.TempDir(), "digits"), []byte(source), 7)
}

func open(t *testing.T, w *viewtest.Writer) *view.Recorded {
	t.Helper()
	e, err := view.Open(w.Dir.Path())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func refresh(t *testing.T, e *view.Recorded, want bool) {
	t.Helper()
	if changed, err := e.Refresh(); err != nil || changed != want {
		t.Fatalf("changed %v, %v; want %v", changed, err, want)
	}
}

// B-124: a running experiment can be read too.
func TestFollowsARunningExperiment(t *testing.T) {
	w := write(t, file)
	lock, err := journal.LockDir(w.Dir.Path(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, w)
	if e.State() != "running" || e.Now().Machine.Trials() != 0 {
		t.Errorf("before the first event: %s, %d trials", e.State(), e.Now().Machine.Trials())
	}
	w.Start(2)
	w.Run(1)
	refresh(t, e, true)
	if n := e.Now().Machine.Count(core.Running); n != 2 {
		t.Errorf("%d trials run, want 2", n)
	}
	leftRunning(t, e, 0)
	refresh(t, e, false)
	s, err := e.Status(viewtest.Epoch.Add(time.Minute))
	if err != nil || s.Elapsed != time.Minute {
		t.Errorf("the running time continues: %v, %v", s.Elapsed, err)
	}
	w.Run(-1)
	w.Close()
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	refresh(t, e, true)
	if e.State() != "finished" {
		t.Errorf("at the end it is %s", e.State())
	}
}

// B-026, B-124: running times become times of day of the host at the time.
func TestTimesOverSeveralHosts(t *testing.T) {
	w := write(t, file)
	w.Start(1)
	w.Run(4) // trial 0, and one result of trial 1
	later := viewtest.Epoch.Add(24 * time.Hour)
	w.Host(later, 1)
	w.Run(-1)
	w.Close()
	e := open(t, w)
	zero, one := e.Now().Trial(0), e.Now().Trial(1)
	if !zero.Started.Equal(viewtest.Epoch) || !zero.Ended.Equal(viewtest.Epoch.Add(3*time.Second)) {
		t.Errorf("trial 0 from %v to %v", zero.Started, zero.Ended)
	}
	if !one.Started.Equal(viewtest.Epoch.Add(3*time.Second)) || !one.Ended.After(later) {
		t.Errorf("trial 1 from %v to %v", one.Started, one.Ended)
	}
}

// B-061, B-084, B-124: what a restarted trial reports again replaces its earlier report.
func TestResultsOfARestartedTrial(t *testing.T) {
	w := write(t, strings.Replace(file, "{every: 1}", "{every: 2}", 1))
	w.Iterations = 5
	w.Start(1)
	w.Run(3) // with a checkpoint at iteration 2
	w.Host(viewtest.Epoch.Add(time.Hour), 1)
	w.Run(-1)
	w.Close()
	list, err := open(t, w).Results(0)
	if err != nil {
		t.Fatal(err)
	}
	var iterations []uint64
	var attempts []uint32
	for _, r := range list {
		iterations = append(iterations, r.Iteration)
		attempts = append(attempts, r.Attempt)
	}
	if want := []uint64{1, 2, 3, 4, 5}; !slices.Equal(iterations, want) {
		t.Errorf("iterations %v, want %v", iterations, want)
	}
	if first := attempts[0]; attempts[1] != first || attempts[2] == first {
		t.Errorf("attempts %v: the second one begins with iteration 3", attempts)
	}
	if v, ok := metric(list[2].Metrics, "accuracy"); !ok || v != 0.5*(1-1.0/4) {
		t.Errorf("accuracy of iteration 3 is %v, %v", v, ok)
	}
}

func metric(list []view.Metric, name string) (float64, bool) {
	for _, m := range list {
		if m.Name == name {
			return m.Value, true
		}
	}
	return 0, false
}

// values reports one value each iteration, as given.
func values(t *testing.T, mode string, list [][]float64) *view.Recorded {
	t.Helper()
	w := write(t, strings.NewReplacer("max}", mode+"}", "trials: 4", fmt.Sprint("trials: ", max(4,
		len(list)))).Replace(file))
	w.Iterations = uint64(len(list[0]))
	w.Metrics = func(no core.TrialNo, i uint64) []float64 { return []float64{list[no][i-1]} }
	w.Start(4)
	w.Run(-1)
	w.Close()
	return open(t, w)
}

// B-015, B-017, B-124
func TestBestByScope(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	e := values(t, "max", [][]float64{{5, 1, 2}, {3, 3, 3}, {1, 2, 4}, {nan, inf, nan}})
	for _, c := range []struct {
		scope view.Scope
		mode  string
		want  core.TrialNo
		value float64
	}{
		{"", "", 2, 4}, {view.Last, "", 2, 4}, {view.Min, "", 1, 3}, {view.Max, "", 0, 5}, {view.Mean, "", 1, 3},
		{view.Mean5, "", 1, 3}, {view.All, "", 0, 5}, {view.Last, "min", 0, 2}, {view.All, "min", 0, 1}, {view.Max,
			"min", 1, 3},
	} {
		best, ok, err := e.Best(view.Query{Scope: c.scope, Mode: c.mode})
		if err != nil || !ok || best.Number != c.want || best.Value != c.value {
			t.Errorf("%q %s: trial %d with %v, %v, %v; want trial %d with %v", c.scope, c.mode, best.Number, best.Value,
				ok, err, c.want, c.value)
		}
	}
}

func TestBestOfNothing(t *testing.T) {
	e := values(t, "min", [][]float64{{math.NaN()}, {math.Inf(-1)}, {math.NaN()}, {math.NaN()}})
	if best, ok, err := e.Best(view.Query{}); ok || err != nil {
		t.Errorf("best is %+v, %v", best, err)
	}
}

// A slow and obvious oracle for the front.
func TestFront(t *testing.T) {
	points := [][]float64{{1, 5}, {2, 4}, {2, 4}, {3, 4}, {3, 1}, {math.NaN(), 0}, {1, 6}, {0, 9}}
	for _, modes := range [][2]stat.Mode{{stat.Min, stat.Min}, {stat.Max, stat.Min}, {stat.Max, stat.Max}} {
		w := write(t, fmt.Sprintf("version: 1\nobjectives: [{metric: a, mode: %s}, {metric: b, mode: %s}]\n"+
			"space: {x: {uniform: [0, 1]}}\ntrials: 8\n", modes[0], modes[1]))
		w.Iterations, w.Names = 1, []string{"a", "b"}
		w.Metrics = func(no core.TrialNo, _ uint64) []float64 { return points[no] }
		w.Start(8)
		w.Run(-1)
		w.Close()
		front, err := open(t, w).Front(view.Last)
		if err != nil {
			t.Fatal(err)
		}
		var got []core.TrialNo
		for _, x := range front {
			got = append(got, x.Number)
		}
		if want := slowFront(points, modes); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", modes, got, want)
		}
	}
}

func slowFront(points [][]float64, modes [2]stat.Mode) (front []core.TrialNo) {
	for i, p := range points {
		beaten := math.IsNaN(p[0])
		for _, q := range points {
			a, b := stat.Compare(q[0], p[0], modes[0]), stat.Compare(q[1], p[1], modes[1])
			beaten = beaten || !math.IsNaN(q[0]) && a <= 0 && b <= 0 && (a < 0 || b < 0)
		}
		if !beaten {
			front = append(front, core.TrialNo(i))
		}
	}
	return front
}

// Pages, put together, are the chosen trials, for any filter and sort key, and for more trials than
// are examined at a time.
func TestPages(t *testing.T) {
	var points [][]float64
	for i := range 700 {
		points = append(points, []float64{float64(i * 7919 % 701)})
	}
	e := values(t, "max", points)
	chosen := view.Chosen{Where: "number % 3 != 0", Sort: "accuracy", States: []core.State{core.Terminated}}
	all, err := e.Choose(chosen)
	if err != nil || all.Total != 700 || all.Fitting != 466 || len(all.Numbers) != 466 {
		t.Fatalf("%d trials, %d fit, %d on the page, %v", all.Total, all.Fitting, len(all.Numbers), err)
	}
	var got []core.TrialNo
	for chosen.Limit = 50; chosen.Offset <= 500; chosen.Offset += 50 {
		page, err := e.Choose(chosen)
		if err != nil || page.Fitting != 466 || len(page.Numbers) > 50 {
			t.Fatal(page, err)
		}
		last := math.Inf(1)
		err = page.Each(func(x *view.Trial) error {
			got = append(got, x.Number)
			v, _ := x.Metric("accuracy")
			if v > last || x.Number%3 == 0 || x.Dir == "" {
				t.Errorf("trial %d of %v after %v, in %q", x.Number, v, last, x.Dir)
			}
			last = v
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got, all.Numbers) {
		t.Errorf("pages have %d trials in another order than all of them", len(got))
	}
	chosen = view.Chosen{States: []core.State{core.Errored, core.Running}}
	if none, err := e.Choose(chosen); err != nil || none.Fitting != 0 {
		t.Errorf("%d trials in other states, %v", none.Fitting, err)
	}
}

// The events of a directory are those that reporters receive, for any number read at a time, also
// while more is recorded.
func TestEventsSince(t *testing.T) {
	w := write(t, file)
	w.Start(2)
	w.Run(2)
	e := open(t, w)
	f := e.Follow(0, nil)
	defer f.Close()
	var all []view.Event
	read := func() {
		for more := true; more; {
			events, err := f.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			all, more = append(all, events...), len(events) > 0
		}
	}
	read()
	before := len(all)
	w.Run(-1)
	w.Close()
	read()
	if before == 0 || len(all) <= before || all[len(all)-1].Kind != core.SawEnd {
		t.Fatalf("%d events, then %d", before, len(all))
	}
	for i := range all {
		g := e.Follow(all[i].Number, nil)
		rest, err := g.Next(t.Context())
		g.Close()
		if err != nil || len(rest) != len(all)-i-1 || len(rest) > 0 && rest[0].Number != all[i+1].Number {
			t.Fatalf("%d events after %d, want %d; %v", len(rest), all[i].Number, len(all)-i-1, err)
		}
	}
}

// Trials say how often they were started and where they ran last, and are sorted by that.
func TestSortedByHowTheyRan(t *testing.T) {
	e := values(t, "min", [][]float64{{3}, {1}, {2}, {4}})
	for _, by := range []string{"attempts", "-attempts", "node", "cause"} {
		list, err := e.Trials(view.Chosen{Sort: by})
		if err != nil || len(list) != 4 {
			t.Fatalf("%s: %d trials, %v", by, len(list), err)
		}
		for _, x := range list {
			text, err := json.Marshal(x)
			if err != nil || !strings.Contains(string(text), `"attempts":1,"node":"lab"`) {
				t.Errorf("%s, %v", text, err)
			}
		}
	}
	_, err := e.Trials(view.Chosen{Sort: "nodes"})
	if err == nil || !strings.Contains(err.Error(), `did you mean "node"`) {
		t.Error(err)
	}
}

func TestSelect(t *testing.T) {
	e := values(t, "min", [][]float64{{3}, {1}, {math.NaN()}, {2}})
	for _, c := range []struct {
		where, sort string
		want        []core.TrialNo
	}{
		{"", "", []core.TrialNo{0, 1, 2, 3}},
		{"", "accuracy", []core.TrialNo{1, 3, 0, 2}},
		{"", "-accuracy", []core.TrialNo{2, 0, 3, 1}},
		{"", "-number", []core.TrialNo{3, 2, 1, 0}},
		{"accuracy < 2.5", "-accuracy", []core.TrialNo{3, 1}},
		{"number > 0 && units >= 1 && state == 'TERMINATED'", "", []core.TrialNo{1, 2, 3}},
		{"nothing.at.all > 3", "", nil},
	} {
		list, err := e.Trials(view.Chosen{Where: c.where, Sort: c.sort})
		var got []core.TrialNo
		for _, x := range list {
			got = append(got, x.Number)
		}
		if c.want == nil {
			if err == nil {
				t.Errorf("%q: no error", c.where)
			}
			continue
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q by %q: %v, %v; want %v", c.where, c.sort, got, err, c.want)
		}
	}
}

// An objective sorts from the best to the worst, also where a parameter or another key has its name. In expressions
// metrics.NAME is the metric then.
func TestSortedByObjectiveOfOtherNames(t *testing.T) {
	for _, name := range []string{"lr", "number", "cause"} {
		w := write(t, strings.Replace(file, "metric: accuracy", "metric: "+name, 1))
		w.Names, w.Iterations = []string{name}, 1
		w.Metrics = func(no core.TrialNo, _ uint64) []float64 { return []float64{[]float64{13, 11, 12, 14}[no]} }
		w.Start(4)
		w.Run(-1)
		w.Close()
		e := open(t, w)
		for sort, want := range map[string][]core.TrialNo{name: {3, 0, 2, 1}, "-" + name: {1, 2, 0, 3}} {
			list, err := e.Trials(view.Chosen{Sort: sort, Where: "metrics." + name + " > 10.0"})
			var got []core.TrialNo
			for _, x := range list {
				got = append(got, x.Number)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("by %s: %v, %v; want %v", sort, got, err, want)
			}
		}
	}
}

// B-015
func TestNumbersThatAreNoneInJSON(t *testing.T) {
	e := values(t, "min", [][]float64{{math.NaN()}, {math.Inf(1)}, {math.Inf(-1)}, {1e300}})
	trials, err := e.Trials(view.Chosen{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(trials)
	for _, want := range []string{`{"accuracy":"NaN"}`, `{"accuracy":"Infinity"}`, `{"accuracy":"-Infinity"}`,
		`{"accuracy":1e+300}`} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in %s, %v", want, text, err)
		}
	}
}

// A crash removed what was read: the reader starts from the beginning.
func TestRewound(t *testing.T) {
	w := write(t, file)
	w.Start(2)
	before := t.TempDir()
	copyFiles(t, w.Dir.Journal(), before)
	w.Run(2)
	e := open(t, w)
	if e.Now().Machine.Trials() == 0 {
		t.Fatal("nothing was read")
	}
	w.Crash()
	copyFiles(t, before, w.Dir.Journal())
	refresh(t, e, true)
	if n := e.Now().Machine.Trials(); n != 0 {
		t.Errorf("%d trials are still there", n)
	}
}

// copyFiles replaces the content of files.
func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, f.Name()), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoExperiment(t *testing.T) {
	if _, err := view.Open(t.TempDir()); !errors.Is(err, runfile.ErrNone) {
		t.Error(err)
	}
}

// An experiment without its record is no experiment without trials.
func TestRecordIsGone(t *testing.T) {
	w := write(t, file)
	w.Start(2)
	w.Run(-1)
	w.Close()
	if err := os.RemoveAll(w.Dir.Journal()); err != nil {
		t.Fatal(err)
	}
	if _, err := view.Open(w.Dir.Path()); !errors.Is(err, journal.ErrNoJournal) {
		t.Error(err)
	}
}

// B-086
func TestDamageIsTold(t *testing.T) {
	w := write(t, file)
	w.Start(2)
	w.Run(-1)
	w.Close()
	segment := filepath.Join(w.Dir.Journal(), "00000000000000000001.tj")
	b, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	b[200] ^= 1
	if err := os.WriteFile(segment, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = view.Open(w.Dir.Path())
	var bad *journal.CorruptError
	if !errors.As(err, &bad) || bad.Offset == 0 || !strings.Contains(err.Error(), w.Dir.Journal()) {
		t.Error(err)
	}
}
