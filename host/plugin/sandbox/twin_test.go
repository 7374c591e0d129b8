package sandbox_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/inproc"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest"
	"github.com/tunehost/tunehost/plugins/catalog"
	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// twins is the module of bundled plugins.
type twins struct{ path string }

// start starts the module as one of them.
func (m twins) start(t testing.TB, kind sdk.Kind, name string) *process.Process {
	t.Helper()
	variable := map[sdk.Kind]string{sdk.KindSearcher: "SEARCHER", sdk.KindScheduler: "SCHEDULER"}[kind]
	c := sandboxtest.Process(t, sandbox.Config{Kind: kind, Name: name, Path: m.path, Cache: sandboxtest.Cache(t),
		Grants: sandbox.Grants{Env: []string{variable}}})
	c.Env = append(c.Env, variable+"="+name)
	return sandboxtest.Run(t, c)
}

func raws(texts ...string) (out [][]byte) {
	for _, text := range texts {
		out = append(out, []byte(text))
	}
	return out
}

// wide has parameters of every form, with a condition and a constraint.
func wide(t *testing.T) *space.Space {
	t.Helper()
	s := &space.Space{
		Params: []space.Param{
			{Name: "lr", Kind: space.Real, Low: 1e-5, High: 1, Log: true},
			{Name: "dropout", Kind: space.Real, Low: 0, High: 0.5, Step: 0.1},
			{Name: "units", Kind: space.Int, Low: 16, High: 1024, Log: true},
			{Name: "noise", Kind: space.Normal, Mean: 1, SD: 2},
			{Name: "optimizer", Kind: space.Choice, Choices: raws(`"sgd"`, `"adam"`)},
			{Name: "size", Kind: space.Ordinal, Choices: raws("1", "2", "4")},
			{Name: "momentum", Kind: space.Real, Low: 0, High: 0.99,
				When: &space.Expr{Op: space.In, Param: 4, Set: []int{0}}},
		},
		Constraints: []*space.Expr{{Op: space.Le, Args: []*space.Expr{
			{Op: space.Mul, Args: []*space.Expr{{Op: space.Number, Param: 2}, {Op: space.Number, Param: 5}}},
			{Op: space.Const, Number: 2000},
		}}},
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// bounded returns a space that a grid can cover.
func bounded(t *testing.T) *space.Space {
	s := wide(t)
	s.Params = append(s.Params[:3:3], s.Params[4:]...)
	for i := range s.Params {
		if w := s.Params[i].When; w != nil {
			w.Param = 3
		}
	}
	s.Constraints[0].Args[0].Args[1].Param = 4
	return s
}

func twinProblem(s *space.Space) sdk.Problem {
	return sdk.Problem{Space: s, Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}}, Seed: 11, Trials: 60,
		Concurrency: 4}
}

// sameBits compares bits: NaN equals NaN, and 0 differs from -0.
var sameBits = cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })

// All bundled searchers and schedulers are compared.
func TestAllHaveTwins(t *testing.T) {
	for kind, want := range map[string]int{"searchers": len(catalog.Searchers), "schedulers": len(catalog.Schedulers)} {
		docs, err := filepath.Glob(filepath.Join("..", "..", "..", "plugins", kind, "*", "doc.go"))
		if err != nil {
			t.Fatal(err)
		}
		docs = slices.DeleteFunc(docs,
			func(path string) bool { return filepath.Base(filepath.Dir(path)) == "schedtest" })
		if len(docs) != want {
			t.Errorf("the catalog has %d %s, the folder %q", want, kind, docs)
		}
	}
}

// Modules suggest and decide exactly, bit by bit, what the same code does in this process.
func TestTwins(t *testing.T) {
	m := twins{sandboxtest.Build(t, "./testdata/twin")}
	t.Run("searcher", m.searchers)
	t.Run("scheduler", m.schedulers)
}

func (m twins) searchers(t *testing.T) {
	for _, value := range catalog.Searchers {
		name := value.Name
		t.Run(name, func(t *testing.T) {
			s := wide(t)
			if name == "grid" {
				s = bounded(t)
			}
			here, err := inproc.New(value)
			if err != nil {
				t.Fatal(err)
			}
			trials := uint32(75)
			if name == "gp" || name == "auto" {
				trials = 30 // each suggestion takes milliseconds
			}
			want := search(t, here, s, trials)
			got := search(t, m.start(t, sdk.KindSearcher, name), s, trials)
			if d := cmp.Diff(want, got, sameBits); d != "" || len(want) != int(trials)/3 {
				t.Errorf("%d answers; in process (-) and in the module (+):\n%s", len(want), d)
			}
		})
	}
}

// search asks for three suggestions at a time, and reports their results one round later.
func search(t *testing.T, p plugin.Plugin, s *space.Space, trials uint32) (answers []sdk.Suggestions) {
	t.Helper()
	searcher, err := p.OpenSearcher(t.Context(), twinProblem(s), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var events, late []sdk.Event
	number := uint64(0)
	for trial := uint32(0); trial < trials; trial += 3 {
		for i := range events {
			number++
			events[i].Number = number
		}
		if err := searcher.Observe(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		events, late = late, nil
		var requests []sdk.Request
		for i := range uint32(3) {
			requests = append(requests, sdk.Request{Trial: trial + i, Seed: uint64(trial+i) * 0x9e3779b97f4a7c15})
		}
		answer, err := searcher.Suggest(t.Context(), requests)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
		for i, p := range answer.Points {
			id := trial + uint32(i)
			events = append(events, sdk.Event{Kind: sdk.TrialAdded, Trial: id, Point: p})
			late = append(late, sdk.Event{Kind: sdk.ResultReported, Trial: id, Iteration: 1,
				Losses: []float64{bowl(s, p)}})
			late = append(late, sdk.Event{Kind: sdk.TrialCompleted, Trial: id, Losses: []float64{bowl(s, p)}})
		}
	}
	return answers
}

// bowl is a loss function.
func bowl(s *space.Space, p space.Point) (loss float64) {
	for i, x := range p {
		if u := s.ToUnit(i, x); u == u {
			loss += float64((u - 0.3) * (u - 0.3))
		}
	}
	return loss
}

func (m twins) schedulers(t *testing.T) {
	for _, value := range catalog.Schedulers {
		name, options := value.Name, "{}"
		switch name {
		case "fifo":
			continue // it makes no decisions
		case "asha", "pasha", "hyperband", "moasha", "bohb":
			options = `{"max": 27}`
		case "pbt", "pb2", "mf-pbt":
			options = `{"interval": 3}`
		case "pbt-replay":
			options = `{"policy": [{"iteration": 5, "params": {}}, {"iteration": 9, "params": {}}]}`
		case "resources":
			options = `{"interval": 3, "slots": 60}`
		}
		t.Run(name, func(t *testing.T) {
			here, err := inproc.New(value)
			if err != nil {
				t.Fatal(err)
			}
			want := schedule(t, here, options)
			got := schedule(t, m.start(t, sdk.KindScheduler, name), options)
			if d := cmp.Diff(want, got, sameBits); d != "" || len(want.Out.Decisions) == 0 {
				t.Errorf("%d decisions; in process (-) and in the module (+):\n%s", len(want.Out.Decisions), d)
			}
			t.Logf("%d decisions, %d commands", len(want.Out.Decisions), len(want.Out.Commands))
		})
	}
}

func schedule(t *testing.T, p plugin.Plugin, options string) schedtest.History {
	t.Helper()
	s := wide(t)
	scheduler, err := p.OpenScheduler(t.Context(), twinProblem(s), []byte(options), nil)
	if err != nil {
		t.Fatal(err)
	}
	turn := 0
	history, err := schedtest.Sim{
		Trials: 40, Workers: 6, Length: 27, Burst: 3, Limit: 1500, SearchEnds: true,
		Loss: func(trial uint32, iteration uint64) float64 {
			return float64((trial*2654435761)%1000)/1000 + 1/float64(iteration)
		},
		Pick: func(n int) int { turn++; return turn * 7 % n },
	}.Run(pointed{scheduler, s})
	if err != nil {
		t.Fatal(err)
	}
	return history
}

// pointed gives trials parameters, which the simulation does not.
type pointed struct {
	sdk.Scheduler
	space *space.Space
}

func (p pointed) Decide(ctx context.Context, events []sdk.Event) (sdk.Decisions, error) {
	for i := range events {
		if e := &events[i]; e.Kind == sdk.TrialAdded {
			var err error
			if e.Point, err = p.space.Sample(space.NewRand(uint64(e.Trial))); err != nil {
				return sdk.Decisions{}, fmt.Errorf("trial %d: %w", e.Trial, err)
			}
		}
	}
	return p.Scheduler.Decide(ctx, events)
}
