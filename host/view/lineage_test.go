package view_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

func explore(w *viewtest.Writer, trial, donor core.TrialNo, iteration uint64, params string) {
	w.Event(&core.SchedulerDecided{Commands: []core.Command{{Kind: core.Exploit, Trial: trial, Donor: donor,
		Iteration: iteration, Params: []byte(params)}}})
}

func brief(l *view.Lineage) (text string) {
	for i, s := range l.Stretches {
		text += fmt.Sprintf("%d: trial %d, %d to %d, parent %d\n", i, s.Trial, s.From, s.To, s.Parent)
	}
	return text
}

func lineage(t *testing.T, e *view.Recorded) *view.Lineage {
	t.Helper()
	l, err := e.Lineage()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A host's death does not split stretches: under the next host the trial continues from its own
// checkpoint, or once more from the other trial's.
func TestLineageAcrossHosts(t *testing.T) {
	w := write(t, file)
	w.Iterations = 6
	w.Start(2)
	w.Run(2)
	explore(w, 0, 1, 1, `{"lr":0.5,"units":3}`)
	w.Run(0)
	w.Host(viewtest.Epoch.Add(time.Hour), 2)
	w.Run(2)
	w.Host(viewtest.Epoch.Add(2*time.Hour), 2)
	w.Run(1)
	w.Crash()
	l := lineage(t, open(t, w))
	want := `0: trial 0, 0 to 2, parent -1
1: trial 1, 0 to 5, parent -1
2: trial 0, 1 to 4, parent 1
`
	if got := brief(l); got != want {
		t.Errorf("%swant %s", got, want)
	}
	if !l.Branches() || fmt.Sprint(l.Line(0), l.Line(1), l.Line(3)) != "[1 2] [1] []" {
		t.Errorf("lines %v, %v, %v", l.Line(0), l.Line(1), l.Line(3))
	}
}

// A trial that continues from an inherited checkpoint continues from the stretch that made it; changes
// without training between them are one.
func TestPolicy(t *testing.T) {
	w := write(t, file)
	w.Iterations = 6
	w.Start(2)
	w.Run(2)
	explore(w, 0, 1, 2, `{"lr":0.5,"units":3}`)
	w.Run(0)
	explore(w, 0, 0, 2, `{"lr":0.25,"units":3}`)
	w.Run(2)
	explore(w, 0, 0, 4, `{"lr":0.25,"units":4}`)
	w.Run(-1)
	w.Close()
	e := open(t, w)
	l := lineage(t, e)
	begin, changes := e.Policy(l, l.Line(0))
	if first := e.Config.Values(e.Now().Machine.FirstParams(1)); fmt.Sprint(begin) != fmt.Sprint(first) {
		t.Errorf("begins with %v, want %v", begin, first)
	}
	if got, want := fmt.Sprint(changes), "[{2 map[lr:0.25 units:3]} {4 map[units:4]}]"; got != want {
		t.Errorf("%s, want %s\n%s", got, want, brief(l))
	}
}

// The reasons of a trial have where it took over another one.
func TestTakeoverIsAReason(t *testing.T) {
	w := write(t, file)
	w.Iterations = 6
	w.Start(2)
	w.Run(2)
	explore(w, 0, 1, 2, `{"lr":0.5,"units":3}`)
	w.Run(-1)
	w.Close()
	d, err := open(t, w).Detail(0)
	if err != nil || !slices.ContainsFunc(d.Reasons,
		func(r view.ReasonAt) bool { return r.Reason == "continues from iteration 2 of trial 1" }) {
		t.Errorf("%+v, %v", d.Reasons, err)
	}
}

// The best of the lineage is the trial that is the best everywhere, also where another one was as good or had been
// better before it took over something else (B-141).
func TestBestOfLineageIsTheBest(t *testing.T) {
	for name, value := range map[string]func(no core.TrialNo, iteration uint64) float64{
		"equal": func(no core.TrialNo, iteration uint64) float64 {
			if no == 0 && iteration <= 2 {
				return 0.1
			}
			return 0.5
		},
		"worse after the takeover": func(no core.TrialNo, iteration uint64) float64 {
			if no == 0 && iteration <= 2 {
				return 0.9
			}
			return 0.5
		},
	} {
		w := write(t, file)
		w.Iterations = 6
		w.Metrics = func(no core.TrialNo, iteration uint64) []float64 {
			return []float64{value(no, iteration), value(no, iteration)}
		}
		w.Start(2)
		w.Run(2)
		explore(w, 0, 1, 2, `{"lr":0.5,"units":3}`)
		w.Run(-1)
		w.Close()
		e := open(t, w)
		best, ok, err := e.Best(view.Query{})
		l := lineage(t, e)
		if at := l.Best(); !ok || err != nil || len(at) != 1 || l.Stretches[at[0]].Trial != best.Number ||
			l.Stretches[at[0]].Value != best.Value {
			t.Errorf("%s: stretches %d of %sthe best is trial %d with %g", name, at, brief(l), best.Number, best.Value)
		}
	}
}

// Trials without exploits are stretches without parents, and have no schedule.
func TestNoLineage(t *testing.T) {
	w := write(t, file)
	w.Start(2)
	w.Run(-1)
	w.Close()
	e := open(t, w)
	l := lineage(t, e)
	if _, changes := e.Policy(l, l.Line(2)); l.Branches() || len(l.Stretches) != 4 || len(changes) != 0 ||
		len(l.Best()) != 1 {
		t.Errorf("%sbest %d, changes %v", brief(l), l.Best(), changes)
	}
}

// Each run of a suggestion has stretches of its own, which say of which it is one, and all runs of the best suggestion
// are the best, also where one of them continued from the run of another suggestion (B-141).
func TestLineageOfRuns(t *testing.T) {
	w := write(t, file+"repeat: 2\n")
	w.Iterations = 6
	w.Metrics = func(no core.TrialNo, iteration uint64) []float64 {
		return []float64{float64(no), float64(no)}
	}
	w.Start(4)
	w.Run(4)
	explore(w, 3, 1, 1, `{"lr":0.5,"units":3}`)
	w.Run(-1)
	w.Close()
	e := open(t, w)
	best, ok, err := e.Best(view.Query{})
	l := lineage(t, e)
	var runs []core.TrialNo
	for _, at := range l.Best() {
		runs = append(runs, l.Stretches[at].Trial)
	}
	if !ok || err != nil || len(runs) != 2 || !slices.Equal(runs, best.MeanOf) {
		t.Errorf("the best are %v of %s, want %v, %v", runs, brief(l), best.MeanOf, err)
	}
	for _, s := range l.Stretches {
		if s.Suggestion == nil || *s.Suggestion != int(s.Trial)/2 {
			t.Errorf("trial %d is a run of suggestion %v", s.Trial, s.Suggestion)
		}
	}
	if line := l.Line(3); len(line) != 2 || l.Stretches[line[0]].Trial != 1 {
		t.Errorf("trial 3 comes from %v of %s", line, brief(l))
	}
}

// A lineage that is cut keeps parents with their children, and the best.
func TestLineageCut(t *testing.T) {
	for seed := range uint64(20) {
		e := open(t, restarted(t, seed))
		for most := range 12 {
			whole, l := lineage(t, e), lineage(t, e)
			total := l.Cut(most)
			if total != len(whole.Stretches) || most > 0 && len(l.Stretches) > most {
				t.Fatalf("seed %d: %d of %d, want at most %d", seed, len(l.Stretches), total, most)
			}
			for i, s := range l.Stretches {
				if s.Parent >= i || s.Parent >= 0 && l.Stretches[s.Parent].Trial == s.Trial && s.From == 0 {
					t.Errorf("seed %d, cut to %d: %s", seed, most, brief(l))
				}
			}
			for _, at := range l.Best() {
				if a, b := l.Stretches[at], whole.Stretches[whole.Best()[0]]; a.Trial != b.Trial || a.From != b.From ||
					a.Value != b.Value {
					t.Errorf("seed %d, cut to %d: the best is %+v, want %+v or none", seed, most, a, b)
				}
			}
			for _, s := range l.Stretches {
				if !has(whole, l, s) {
					t.Errorf("seed %d, cut to %d: the parent of %+v is another one", seed, most, s)
				}
			}
		}
	}
}

// has reports whether a lineage has a stretch with the same parent.
func has(whole, l *view.Lineage, s view.Stretch) bool {
	parent := func(l *view.Lineage, s view.Stretch) string {
		if s.Parent < 0 {
			return ""
		}
		p := l.Stretches[s.Parent]
		return fmt.Sprint(p.Trial, p.From, p.To, string(p.Params))
	}
	for _, x := range whole.Stretches {
		if x.Trial == s.Trial && x.From == s.From && x.To == s.To && parent(whole, x) == parent(l, s) {
			return true
		}
	}
	return false
}
