package host

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/clock/clocktest"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/report/publish"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/schedulers/fifo"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/auto"
	"github.com/tunehost/tunehost/plugins/searchers/grid"
	"github.com/tunehost/tunehost/plugins/searchers/random"
	"github.com/tunehost/tunehost/plugins/trainables/chaos"
)

// notebook is a reporter that keeps what it hears through all its lives, and
// misbehaves as before and after say.
type notebook struct {
	mu     sync.Mutex
	events []sdk.ReporterEvent
	opens  int
	// keeps: it counts by itself; else it continues where the host says.
	keeps bool
	// before is called with each batch; it returns how many of its events are
	// kept before the error.
	before func(call int, events []sdk.ReporterEvent) (kept int, err error)
	calls  int
}

func (n *notebook) plugin() sdk.ReporterPlugin {
	return sdk.ReporterPlugin{
		Info: sdk.Info{Name: "notebook", Version: "1",
			Options: []byte(`{"type": "object", "additionalProperties": false, "properties": {"no": {"type": ` +
				`"string"}}}`)},
		Open: func(e sdk.Experiment, options []byte) (sdk.Reporter, uint64, error) {
			if strings.Contains(string(options), "never") {
				return nil, 0, errors.New("never heard of it")
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			n.opens++
			if !n.keeps {
				return n, e.Told, nil
			}
			if len(n.events) == 0 {
				return n, 0, nil
			}
			return n, n.events[len(n.events)-1].Number, nil
		},
	}
}

// Report implements sdk.Reporter.
func (n *notebook) Report(_ context.Context, events []sdk.ReporterEvent) error {
	n.mu.Lock()
	n.calls++
	call := n.calls
	n.mu.Unlock()
	kept, err := len(events), error(nil)
	if n.before != nil {
		kept, err = n.before(call, events)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		kept = len(events)
	}
	n.events = append(n.events, events[:kept]...)
	return err
}

// inRecord are the events that the record has for reporters.
func inRecord(t *testing.T, path string) []sdk.ReporterEvent {
	t.Helper()
	d, err := storage.At(path)
	if err != nil {
		t.Fatal(err)
	}
	file, e, err := runfile.Read(d)
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Open(d.Journal())
	if err != nil {
		t.Fatal(err)
	}
	n := view.NewEventBuilder(h.Machine(), view.NewSubjects(view.NewState(&view.Facts{Config: e, Dir: d,
		Seed: file.Seed}, h)).Of)
	var events []view.Event
	err = h.Each(func(s *history.Step) error {
		n.Hear(s, 0, func(e view.Event) { events = append(events, e) })
		return nil
	})
	if err = errors.Join(err, h.Close()); err != nil {
		t.Fatal(err)
	}
	return publish.Reported(events)
}

// heardAll checks that what was heard is what the record has: nothing lost,
// nothing doubled, in order, and all of each event.
func (n *notebook) heardAll(t *testing.T, path string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if d := cmp.Diff(inRecord(t, path), n.events); d != "" {
		t.Errorf("in the record (-) and heard (+):\n%s", d)
	}
	for i := 1; i < len(n.events); i++ {
		if n.events[i].Number <= n.events[i-1].Number {
			t.Errorf("event %d comes after %d", n.events[i].Number, n.events[i-1].Number)
		}
	}
}

func (n *notebook) kinds() map[sdk.ReporterEventKind]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	kinds := map[sdk.ReporterEventKind]int{}
	for _, e := range n.events {
		kinds[e.Kind]++
	}
	return kinds
}

const reporting5 = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 4, crash: panic, any_params: true, metrics: {tokens_this_iter: 7}}}
space: {crash_at: {grid: [10, 11, 12, 13, 3]}}
searcher: grid
seed: 11
failures: {retries: 1}
checkpoint: {every: 2}
reporters: [jsonl, notebook]
`

// stateOf is a trial's state after an event, whatever happened in the same step.
var stateOf = map[sdk.ReporterEventKind]string{sdk.ReportAdded: "PENDING", sdk.ReportRuns: "RUNNING",
	sdk.ReportResult: "RUNNING",
	sdk.ReportPaused: "PAUSED", sdk.ReportCompleted: "TERMINATED", sdk.ReportFailed: "ERROR",
	sdk.ReportRequeued: "PENDING",
	sdk.ReportRemoved:  "TERMINATED"}

// B-127: of the experiment's start and end and of each trial's start, result,
// restore, checkpoint, completion and error, in order, with the host's fields.
func TestReportersHearAll(t *testing.T) {
	n := &notebook{}
	o, _ := quick(t, reporting5, n.plugin())
	o.Resources = "(cpu=2)"
	dir := finish(t, o).Dir
	n.heardAll(t, dir)
	want := map[sdk.ReporterEventKind]int{sdk.ReportStarted: 1, sdk.ReportEnded: 1, sdk.ReportAdded: 5,
		sdk.ReportRuns:   6,
		sdk.ReportResult: 18, sdk.ReportSaved: 9, sdk.ReportCompleted: 4, sdk.ReportFailed: 1, sdk.ReportRequeued: 1}
	got := n.kinds()
	for kind, count := range want {
		if got[kind] != count {
			t.Errorf("%d events %v, want %d", got[kind], kind, count)
		}
	}
	first, last := n.events[0], n.events[len(n.events)-1]
	if first.Kind != sdk.ReportStarted || first.Resumed || first.Trial != nil || last.Kind != sdk.ReportEnded ||
		last.Reason != "finished" {
		t.Errorf("it begins with %+v and ends with %+v", first, last)
	}
	for _, e := range n.events {
		switch e.Kind {
		case sdk.ReportRuns:
			if e.Restored != 2*uint64(e.Trial.Attempt-1) {
				t.Errorf("attempt %d of trial %s runs from iteration %d", e.Trial.Attempt, e.Trial.ID, e.Restored)
			}
		case sdk.ReportFailed:
			contains(t, e.Trial.Error, "panic")
		case sdk.ReportResult:
			if r := e.Result; r.PID == 0 || r.Host == "" || len(r.Totals) != 2 || r.Iteration == 0 || r.TimeTotal < 0 {
				t.Errorf("a result lacks the host's fields: %+v", r)
			}
		}
		if want := stateOf[e.Kind]; want != "" && e.Trial.State != want {
			t.Errorf("after %v trial %s is %s, want %s", e.Kind, e.Trial.ID, e.Trial.State, want)
		}
		if e.Trial != nil && (e.Trial.ID == "" || e.Trial.Dir == "" || e.Trial.State == "" ||
			len(e.Trial.Params) == 0) {
			t.Errorf("%v has the trial %+v", e.Kind, e.Trial)
		}
	}
}

// B-127: a reporter that crashes in the middle of a batch continues where it was.
func TestReporterCrashes(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		clock := clocktest.New(1)
		n := &notebook{keeps: keeps}
		n.before = func(call int, events []sdk.ReporterEvent) (int, error) {
			if call%2 == 1 {
				clock.Jump(time.Minute) // never three failures in one
				if !keeps {
					return 0, errors.New("no luck") // it cannot tell half a batch from none
				}
				return len(events) / 2, errors.New("no luck")
			}
			return 0, nil
		}
		o, seen := quick(t, reporting5, n.plugin())
		o.Clock = clock
		n.heardAll(t, finish(t, o).Dir)
		if n.opens < 2 {
			t.Errorf("it was opened %d times", n.opens)
		}
		if strings.Contains(seen.String(), "notebook") {
			t.Errorf("the user is bothered with it:\n%s", seen)
		}
	}
}

// B-127: a panic in every third event's way.
func TestReporterPanics(t *testing.T) {
	clock := clocktest.New(1)
	n := &notebook{keeps: true}
	n.before = func(call int, _ []sdk.ReporterEvent) (int, error) {
		if call == 1 {
			clock.Jump(time.Minute)
			panic("no luck")
		}
		return 0, nil
	}
	o, _ := quick(t, reporting5, n.plugin())
	o.Clock = clock
	n.heardAll(t, finish(t, o).Dir)
}

// B-127: one that does not answer holds up nobody; every trial has ended before
// it takes the first event.
func TestSlowReporter(t *testing.T) {
	var ended atomic.Int32
	all := make(chan struct{})
	counted := reports(scores(1, 2, 3)...)
	open := counted.Open
	counted.Open = func(options []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		inner, traits, err := open(options)
		return sdk.TrainFunc(func(ctx context.Context, run sdk.Run) error {
			err := inner.Train(ctx, run)
			if ended.Add(1) == 20 {
				close(all)
			}
			return err
		}), traits, err
	}
	n := &notebook{before: func(int, []sdk.ReporterEvent) (int, error) { <-all; return 0, nil }}
	o, _ := quick(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: reports}
space: {x: {uniform: [0, 1]}}
trials: 20
reporters: [notebook]
`, n.plugin(), counted)
	n.heardAll(t, finish(t, o).Dir)
}

// B-127: one that hangs past the deadline, again and again, is given up with one
// warning; the experiment continues, and when it is taken up again the reporter
// hears all that it has missed.
func TestReporterHangs(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	n := &notebook{keeps: true, before: func(int, []sdk.ReporterEvent) (int, error) {
		<-release
		return 0,
			errors.New("late")
	}}
	o, seen := quick(t, reporting5, n.plugin())
	o.CallTimeout = 2 * time.Second
	ended := finish(t, o)
	o.CallTimeout = 0
	if ended.Outcome != core.Finished || n.opens != 3 {
		t.Errorf("ended %+v after %d openings, want it finished after 3", ended, n.opens)
	}
	waits := strings.Count(seen.String(), " has not received all events yet: the host waits for it, ")
	if got := strings.Count(seen.String(), "warning: "); got != 1+waits || waits != 1 {
		t.Errorf("%d warnings, want one, and one that the host waits:\n%s", got, seen)
	}
	contains(t, seen.String(), `reporter "notebook" receives no more events, and the experiment continues without it: `+
		"it failed 3 times", "did not answer Report for 2s")

	better := &notebook{keeps: true}
	o, _ = again(o, better.plugin())
	better.heardAll(t, finish(t, o).Dir)
}

// again is the same experiment with other plugins.
func again(o Options, more ...any) (Options, *testplace.Screen) {
	seen := &testplace.Screen{}
	o.Stdout, o.Stderr = seen, seen
	o.Plugins = bundled.New(append([]any{auto.Plugin, random.Plugin, grid.Plugin, fifo.Plugin, chaos.Plugin},
		more...)...)
	return o, seen
}

// B-127: across hosts it continues where it was, whether it counts by itself or
// leaves that to the host.
func TestReporterAcrossHosts(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		n := &notebook{keeps: keeps}
		o, _ := quick(t, strings.Replace(reporting5, "iterations: 4", "iterations: 40, sleep: 0.01", 1), n.plugin())
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			n.before = func(int, []sdk.ReporterEvent) (int, error) { cancel(); return 0, nil }
			if _, err := run(ctx, o); err != nil {
				t.Fatal(err)
			}
			cancel()
		}
		n.before = nil
		n.heardAll(t, finish(t, o).Dir)
		if kinds := n.kinds(); kinds[sdk.ReportStarted] != kinds[sdk.ReportEnded] || kinds[sdk.ReportStarted] < 2 {
			t.Errorf("keeps %v: %d starts and %d ends", keeps, kinds[sdk.ReportStarted], kinds[sdk.ReportEnded])
		}
	}
}

// What a reporter refuses, or one that is not there, is the user's to mend, at
// its place.
func TestReportersInTheFile(t *testing.T) {
	for list, want := range map[string][]string{
		"[jsonl, notebok]": {"test.yaml:9:",
			`there is no reporter "notebok"; bundled are notebook`, `did you mean "notebook"?`},
		"[cvs]": {"test.yaml:9:", `there is no reporter "cvs"`,
			"write files are jsonl, csv"},
		"[{plugin: notebook, no: never}]":       {"test.yaml:9:", `reporter "notebook" refused: never heard of it`},
		"[{plugin: notebook, yes: 1}]":          {"test.yaml:9:", "yes"},
		"[{plugin: jsonl, file: x}]":            {"test.yaml:9:", `reporter "jsonl" has no options`},
		"[{plugin: ./nowhere/reporter, a: 1}]":  {"test.yaml:9:", "/nowhere/reporter: there is no such file or folder"},
		"[{plugin: ./test.yaml, file: x}, csv]": {"test.yaml:9:", "/test.yaml is not executable"},
	} {
		n := &notebook{}
		o, _ := quick(t, strings.Replace(reporting5, "[jsonl, notebook]", list, 1), n.plugin())
		contains(t, refused(t, o), want...)
		if found, _ := filepath.Glob(filepath.Join(o.Storage, "*", "journal")); len(found) > 0 {
			t.Errorf("%s: something has begun: %v", list, found)
		}
	}
}
