package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// wobbly is a trainable whose score depends on its parameters and its seed, and
// which fails half-way with one seed in so many.
func wobbly(failing uint64) sdk.TrainablePlugin {
	return sdk.TrainablePlugin{
		Info: sdk.Info{Name: "wobbly", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
				t := run.Trial()
				for i := range 2 {
					if i > 0 && failing > 0 && t.Seed%failing == 0 {
						return errors.New("a bad seed")
					}
					if err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score",
						Value: wobble(t.Params, t.Seed, i)}}}, nil); err != nil {
						return err
					}
				}
				return nil
			}), sdk.TrainableTraits{}, nil
		},
	}
}

func wobble(params []byte, seed uint64, i int) float64 {
	var p struct{ X float64 }
	if err := json.Unmarshal(params, &p); err != nil {
		return math.NaN()
	}
	return p.X + float64(i) + float64(seed%1000)/1000
}

// scoreOf is that of a trial that ended well.
func scoreOf(m *core.Machine, no core.TrialNo) (s stat.Summary, ok bool) {
	s, ok = m.Summary(no, m.Metric("score"))
	return s, ok && m.State(no) == core.Terminated
}

// ear is a searcher that writes down what it hears, and answers what depends on it.
type ear struct {
	mu     sync.Mutex
	events []sdk.Event
}

func (e *ear) plugin() sdk.SearcherPlugin {
	return sdk.SearcherPlugin{
		Info: sdk.Info{Name: "ear", Version: "1", Options: noOptions},
		Open: func(p sdk.Problem, _ []byte) (sdk.Searcher, sdk.Traits, error) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.events = nil
			return e, sdk.Traits{}, nil
		},
	}
}

func (e *ear) Observe(_ context.Context, events []sdk.Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, events...)
	return nil
}

func (e *ear) Suggest(_ context.Context, requests []sdk.Request) (answer sdk.Suggestions, _ error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range requests {
		h := mix(r.Seed)
		for _, x := range e.events {
			for _, l := range x.Losses {
				h = mix(h ^ math.Float64bits(l))
			}
		}
		answer.Points = append(answer.Points, space.Point{float64(h>>11) / (1 << 53)})
	}
	return answer, nil
}

// heard are the events of kinds.
func (e *ear) heard(kinds ...sdk.EventKind) (list []sdk.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.events {
		if slices.Contains(kinds, x.Kind) {
			list = append(list, x)
		}
	}
	return list
}

const repeatedFile = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: wobbly}
space: {x: {uniform: [0, 1]}}
searcher: ear
seed: 7
repeat: 3
points: [{x: 0.5}]
`

// B-105: each suggestion, the user's points among them, is run with other seeds, and
// the searcher is told the mean alone.
func TestRepeatTellsTheMean(t *testing.T) {
	e := &ear{}
	o, _ := quick(t, repeatedFile+"trials: 4\n", e.plugin(), wobbly(0))
	o.Resources = "(cpu=4)"
	ended := finish(t, o)
	m := audit(t, ended.Dir, nil)
	if m.Trials() != 12 || m.Count(core.Terminated) != 12 {
		t.Fatalf("%d trials, %d of them ended, want 12", m.Trials(), m.Count(core.Terminated))
	}
	finish(t, o) // another host tells the searcher all of it
	told := e.heard(sdk.TrialCompleted)
	if len(told) != 4 || len(e.heard(sdk.TrialAdded)) != 4 {
		t.Fatalf("it was told %d ends of %d trials, want 4", len(told), len(e.heard(sdk.TrialAdded)))
	}
	if n := len(e.heard(sdk.ResultReported, sdk.TrialStarted, sdk.TrialPaused)); n > 0 {
		t.Errorf("it heard %d times of single runs", n)
	}
	for _, x := range told {
		sum, seen := 0.0, map[float64]bool{}
		for no := core.TrialNo(3 * x.Trial); no < core.TrialNo(3*x.Trial+3); no++ {
			s, _ := m.Summary(no, m.Metric("score"))
			sum += s.Last
			seen[s.Last] = true
			if string(m.Params(no)) != string(m.Params(core.TrialNo(3*x.Trial))) {
				t.Errorf("trial %d has the parameters %s", no, m.Params(no))
			}
		}
		if len(seen) != 3 {
			t.Errorf("suggestion %d: the runs had the same seed: %v", x.Trial, seen)
		}
		if math.Abs(x.Losses[0]+sum/3) > 1e-12 || x.Iteration != 2 {
			t.Errorf("suggestion %d: told %v at %d, want %v at 2", x.Trial, x.Losses, x.Iteration, -sum/3)
		}
	}
}

// B-105: runs that failed are left out of the mean; a suggestion whose runs all
// failed failed. The searcher that learned from the means says the same in a replay.
func TestRepeatLeavesFailedRunsOut(t *testing.T) {
	e := &ear{}
	o, _ := quick(t, repeatedFile+"trials: 30\n", e.plugin(), wobbly(2))
	o.Resources = "(cpu=4)"
	ended := finish(t, o)
	m := audit(t, ended.Dir, nil)
	var partly, wholly int
	finish(t, o)
	for _, x := range e.heard(sdk.TrialCompleted, sdk.TrialFailed) {
		sum, n := 0.0, 0
		for no := core.TrialNo(3 * x.Trial); no < core.TrialNo(3*x.Trial+3); no++ {
			if s, ok := scoreOf(m, no); ok {
				sum += s.Last
				n++
			}
		}
		switch {
		case n == 0 && x.Kind == sdk.TrialFailed && x.Losses == nil:
			wholly++
		case n > 0 && x.Kind == sdk.TrialCompleted && math.Abs(x.Losses[0]+sum/float64(n)) < 1e-12:
			if n < 3 {
				partly++
			}
		default:
			t.Errorf("suggestion %d: %d runs ended well, told %+v", x.Trial, n, x)
		}
	}
	if partly == 0 || wholly == 0 {
		t.Errorf("%d suggestions failed in part and %d wholly: the test shows nothing", partly, wholly)
	}
}

// B-105, B-100: the grid is walked once, and each crossing is run so many times.
func TestRepeatOfAGrid(t *testing.T) {
	o, _ := quick(t, strings.NewReplacer("space: {x: {uniform: [0, 1]}}", "space: {x: {grid: [1, 2, 3]}}",
		"searcher: ear", "searcher: grid", "points: [{x: 0.5}]\n", "").
		Replace(repeatedFile)+"concurrency: 2\n", wobbly(0))
	m := audit(t, finish(t, o).Dir, nil)
	got := params(m)
	slices.Sort(got)
	if want := []string{`{"x":1}`, `{"x":1}`, `{"x":1}`, `{"x":2}`, `{"x":2}`, `{"x":2}`, `{"x":3}`, `{"x":3}`,
		`{"x":3}`}; !slices.Equal(got, want) {
		t.Errorf("trials %v, want %v", got, want)
	}
}

// B-105, B-123, B-124: the best is that of the best mean, and it is said to be one.
func TestBestOfRepeats(t *testing.T) {
	o, seen := quick(t, repeatedFile+"trials: 6\n", (&ear{}).plugin(), wobbly(5))
	o.Verbose = 1
	ended := finish(t, o)
	x, err := view.Open(ended.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	want := math.Inf(-1)
	var runs []core.TrialNo
	for no := core.TrialNo(0); no < 18; no += 3 {
		sum, counted := 0.0, []core.TrialNo(nil)
		for i := range core.TrialNo(3) {
			if s, ok := scoreOf(x.Now().Machine, no+i); ok {
				sum, counted = sum+s.Last, append(counted, no+i)
			}
		}
		if mean := sum / float64(len(counted)); mean > want {
			want, runs = mean, counted
		}
	}
	best, ok, err := x.Best(view.Query{})
	if err != nil || !ok || best.Number != runs[0] || math.Abs(best.Value-want) > 1e-12 ||
		best.Suggestion != int(runs[0])/3 || !slices.Equal(best.MeanOf, runs) {
		t.Errorf("best is trial %d with %v of %v, want %v with %v; %v", best.Number, best.Value, best.MeanOf, runs,
			want, err)
	}
	if len(runs) == 1 { // two have failed
		contains(t, seen.String(), fmt.Sprintf("trial %05d, the only run that counts", runs[0]))
	}
	text, err := json.Marshal(best)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(text), `"mean_of":[`, `"suggestion":`)
}

// B-105, B-083: how often suggestions are run does not change, and a searcher that
// is opened again hears the same means.
func TestRepeatAcrossHosts(t *testing.T) {
	e := &ear{}
	o, seen := quick(t, repeatedFile+"trials: 3\n", e.plugin(), wobbly(0))
	finish(t, o)
	finish(t, o)
	before := e.heard(sdk.TrialCompleted)
	o.Sets = []string{"trials=5", "repeat=2"}
	finish(t, o)
	ended := finish(t, o)
	contains(t, seen.String(), "the change of repeat is ignored")
	after := e.heard(sdk.TrialCompleted)
	if len(after) != 5 || audit(t, ended.Dir, nil).Trials() != 15 {
		t.Fatalf("%d ends were told of %d trials", len(after), audit(t, ended.Dir, nil).Trials())
	}
	for i := range before {
		if fmt.Sprint(before[i]) != fmt.Sprint(after[i]) {
			t.Errorf("told %+v, and again %+v", before[i], after[i])
		}
	}
}
