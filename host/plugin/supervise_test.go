package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// world is a host with a history, and a searcher or scheduler that fails at given calls, counted over
// all its lives.
type world struct {
	t        *testing.T
	now      time.Time
	history  []sdk.Event
	calls    int
	failAt   map[int]plugin.Failure
	opens    int
	snapshot bool
	retold   int
	failures []error
	each     func() // runs at each call
}

func (w *world) supervision() plugin.Supervision {
	return plugin.Supervision{
		Name: `searcher "fake"`, Now: func() time.Time { return w.now },
		Restarted: func(err error) { w.failures = append(w.failures, err) },
		History: func(after, through uint64, tell func([]sdk.Event) error) error {
			for batch := range slices.Chunk(w.history[after:through], 2) {
				w.retold += len(batch)
				if err := tell(batch); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (w *world) searcher() plugin.Searcher {
	s, err := plugin.SuperviseSearcher(w.t.Context(), w.supervision(),
		func(_ context.Context, snapshot []byte) (plugin.Searcher, error) {
			return w.open(snapshot)
		})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) open(snapshot []byte) (*fake, error) {
	w.opens++
	if err := w.call(); err != nil {
		return nil, err
	}
	f := &fake{w: w}
	if len(snapshot) > 0 {
		_, err := fmt.Sscan(string(snapshot), &f.seen)
		return f, err
	}
	return f, nil
}

// call counts a call and fails if it is one that must fail.
func (w *world) call() error {
	w.calls++
	if w.each != nil {
		w.each()
	}
	if f, ok := w.failAt[w.calls]; ok {
		return &plugin.Error{Plugin: `searcher "fake"`, Failure: f, What: "exited with status 3",
			Tail: []string{"its last words"}}
	}
	return nil
}

// observe tells an event to a searcher, after recording it as a host does.
func (w *world) observe(s plugin.Searcher) {
	w.t.Helper()
	e := sdk.Event{Number: uint64(len(w.history) + 1), Kind: sdk.ResultReported}
	w.history = append(w.history, e)
	if err := s.Observe(w.t.Context(), []sdk.Event{e}); err != nil {
		w.t.Fatal(err)
	}
}

// fake is one life of the plugin. Its answers are a function of what it observed and of the request.
type fake struct {
	w    *world
	seen uint64
	dead bool
}

func (f *fake) turn() error {
	if f.dead {
		f.w.t.Error("a plugin that failed is called again")
	}
	err := f.w.call()
	f.dead = err != nil
	return err
}

func (f *fake) observe(events []sdk.Event) error {
	for _, e := range events {
		if e.Number != f.seen+1 {
			f.w.t.Errorf("event %d is told after %d", e.Number, f.seen)
		}
		f.seen = e.Number
	}
	return f.turn() // it crashes once it knows them
}

func (f *fake) Observe(_ context.Context, events []sdk.Event) error { return f.observe(events) }

func (f *fake) Suggest(_ context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	if err := f.turn(); err != nil {
		return sdk.Suggestions{}, err
	}
	var s sdk.Suggestions
	for _, r := range requests {
		s.Points = append(s.Points, space.Point{float64(r.Trial), float64(r.Seed), float64(f.seen)})
	}
	return s, nil
}

func (f *fake) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	if err := f.observe(events); err != nil {
		return sdk.Decisions{}, err
	}
	return sdk.Decisions{Decisions: []sdk.Decision{{Event: f.seen}}}, nil
}

func (f *fake) Traits() sdk.Traits { return sdk.Traits{} }
func (f *fake) Snapshots() bool    { return f.w.snapshot }
func (f *fake) Close() error       { f.dead = true; return nil }

func (f *fake) Snapshot(context.Context) ([]byte, error) {
	if err := f.turn(); err != nil {
		return nil, err
	}
	return fmt.Append(nil, f.seen), nil
}

// suggestAll asks for a suggestion after each of n events.
func suggestAll(w *world, n int) (points []space.Point) {
	s := w.searcher()
	for trial := range n {
		answer, err := s.Suggest(w.t.Context(), []sdk.Request{{Trial: uint32(trial), Seed: uint64(trial) * 7}})
		if err != nil {
			w.t.Fatal(err)
		}
		points = append(points, answer.Points...)
		w.observe(s)
		w.now = w.now.Add(20 * time.Second) // failures are never three a minute
	}
	return points
}

// B-077: whichever call fails, the suggestions are those of a searcher that never fails: none twice,
// none lost.
func TestSearcherCrashesAnywhere(t *testing.T) {
	const trials = 6
	calm := &world{t: t}
	want := suggestAll(calm, trials)
	failures := []plugin.Failure{plugin.Crashed, plugin.Hung, plugin.InvalidAnswer, plugin.Failed}
	for at := 1; at <= calm.calls; at++ {
		w := &world{t: t, failAt: map[int]plugin.Failure{at: failures[at%4], at + 3: plugin.Crashed}}
		got := suggestAll(w, trials)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("with a failure at call %d: %v, want %v", at, got, want)
		}
		if len(w.failures) == 0 || w.opens < 2 {
			t.Errorf("no failure at call %d was noticed", at)
		}
	}
}

func TestSnapshotIsUsed(t *testing.T) {
	w := &world{t: t, snapshot: true, failAt: map[int]plugin.Failure{}}
	s := w.searcher()
	for range 5 {
		w.observe(s)
	}
	if state, err := s.Snapshot(t.Context()); err != nil || string(state) != "5" {
		t.Fatal(state, err)
	}
	w.observe(s)
	w.failAt[w.calls+1] = plugin.Crashed
	answer, err := s.Suggest(t.Context(), make([]sdk.Request, 1))
	if err != nil || answer.Points[0][2] != 6 || w.retold != 1 {
		t.Fatal(answer, err, w.retold)
	}
}

func TestResumedSearcher(t *testing.T) {
	w := &world{t: t, history: make([]sdk.Event, 5)}
	for i := range w.history {
		w.history[i].Number = uint64(i + 1)
	}
	c := w.supervision()
	c.Through = 5
	s, err := plugin.SuperviseSearcher(t.Context(), c,
		func(_ context.Context, snapshot []byte) (plugin.Searcher, error) {
			return w.open(snapshot)
		})
	if err != nil || w.retold != 5 {
		t.Fatal(err, w.retold)
	}
	if _, err := s.Snapshot(t.Context()); err == nil || len(w.failures) > 0 {
		t.Fatal("it makes no snapshots", w.failures)
	}
}

// B-077
func TestGivesUp(t *testing.T) {
	w := &world{t: t, failAt: map[int]plugin.Failure{2: plugin.Crashed, 4: plugin.Hung, 6: plugin.Crashed}}
	_, err := w.searcher().Suggest(t.Context(), make([]sdk.Request, 1))
	if !errors.Is(err, plugin.ErrGaveUp) || plugin.FailureOf(err) != plugin.Crashed {
		t.Fatal(err)
	}
	want := `searcher "fake" failed 3 times within 1m0s, and is given up; the last time: searcher "fake" exited with ` +
		`status 3; its last output: its last words`
	if err.Error() != want || len(w.failures) != 2 {
		t.Fatalf("%v after %d restarts", err, len(w.failures))
	}
}

// B-077: failures at one call count over any time, since a hang takes long.
func TestGivesUpAHang(t *testing.T) {
	for name, at := range map[string]func(w *world, s plugin.Searcher) error{
		"suggest": func(w *world, s plugin.Searcher) error {
			_, err := s.Suggest(t.Context(), make([]sdk.Request, 1))
			return err
		},
		"observe": func(w *world, s plugin.Searcher) error {
			return s.Observe(t.Context(), []sdk.Event{{Number: 1, Kind: sdk.ResultReported}})
		},
	} {
		w := &world{t: t, failAt: map[int]plugin.Failure{}}
		s := w.searcher()
		for call := 2; call < 100; call++ {
			if call%2 == 0 { // each life opens and then hangs
				w.failAt[call] = plugin.Hung
			}
		}
		w.each = func() { w.now = w.now.Add(5 * time.Minute) }
		err := at(w, s)
		if !errors.Is(err, plugin.ErrGaveUp) || w.opens != 3 || len(w.failures) != 2 {
			t.Fatalf("%s: %v after %d openings", name, err, w.opens)
		}
		if !strings.HasPrefix(err.Error(), `searcher "fake" failed 3 times at the same call, and is given up; the `+
			`last time: `) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each call has its own deadline and is watched while it runs.
func TestCallsHaveDeadlines(t *testing.T) {
	w := &world{t: t, snapshot: true}
	c := w.supervision()
	limits := map[deadlines.Call]time.Duration{deadlines.Observe: time.Hour, deadlines.Suggest: 2 * time.Hour,
		deadlines.Snapshot: 3 * time.Hour}
	c.Limit = func(c deadlines.Call) time.Duration { return limits[c] }
	var seen []string
	c.Watch = func(c deadlines.Call, limit time.Duration) func() {
		seen = append(seen, fmt.Sprintf("%s %v", c, limit))
		return func() { seen = append(seen, "end") }
	}
	s, err := plugin.SuperviseSearcher(t.Context(), c,
		func(_ context.Context, b []byte) (plugin.Searcher, error) { return w.open(b) })
	if err != nil {
		t.Fatal(err)
	}
	w.observe(s)
	if _, err := s.Suggest(t.Context(), make([]sdk.Request, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(seen, ", "),
		"observe 1h0m0s, end, suggest 2h0m0s, end, snapshot 3h0m0s, end"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

func TestRefusalIsNotTriedAgain(t *testing.T) {
	for _, f := range []plugin.Failure{plugin.Refused, plugin.NotStarted} {
		w := &world{t: t, failAt: map[int]plugin.Failure{1: f}}
		_, err := plugin.SuperviseSearcher(t.Context(), w.supervision(),
			func(_ context.Context, b []byte) (plugin.Searcher, error) { return w.open(b) })
		if plugin.FailureOf(err) != f || w.opens != 1 {
			t.Fatal(err, w.opens)
		}
	}
}

func TestHistoryFails(t *testing.T) {
	w := &world{t: t, history: make([]sdk.Event, 1)}
	c := w.supervision()
	c.Through = 1
	c.History = func(uint64, uint64, func([]sdk.Event) error) error { return errors.New("disk gone") }
	_, err := plugin.SuperviseSearcher(t.Context(), c,
		func(_ context.Context, b []byte) (plugin.Searcher, error) { return w.open(b) })
	if err == nil || err.Error() != "disk gone" || w.opens != 1 {
		t.Fatal(err, w.opens)
	}
}

// A caller that leaves gets its answer at once; the next call restarts the plugin.
func TestCallerLeaves(t *testing.T) {
	w := &world{t: t, failAt: map[int]plugin.Failure{2: plugin.Hung}}
	s := w.searcher()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Suggest(ctx, make([]sdk.Request, 1)); plugin.FailureOf(err) != plugin.Hung || w.opens != 1 {
		t.Fatal(err)
	}
	if _, err := s.Suggest(t.Context(), make([]sdk.Request, 1)); err != nil || w.opens != 2 {
		t.Fatal(err, w.opens)
	}
}

func TestSchedulerCrashes(t *testing.T) {
	w := &world{t: t, failAt: map[int]plugin.Failure{3: plugin.Crashed}}
	s, err := plugin.SuperviseScheduler(t.Context(), w.supervision(),
		func(_ context.Context, b []byte) (plugin.Scheduler, error) {
			return w.open(b)
		})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(4) {
		e := sdk.Event{Number: i + 1, Kind: sdk.ResultReported}
		w.history = append(w.history, e)
		d, err := s.Decide(t.Context(), []sdk.Event{e})
		if err != nil || len(d.Decisions) != 1 || d.Decisions[0].Event != i+1 {
			t.Fatal(d, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Decide(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Fatal(err)
	}
}

// A snapshot that the plugin cannot be opened with, or fails with, is dropped: the plugin is told all
// events, and this does not count as a failure.
func TestSnapshotIsForgotten(t *testing.T) {
	for name, failAt := range map[string]map[int]plugin.Failure{
		"refused":            {1: plugin.Refused},
		"crashes in open":    {1: plugin.Crashed},
		"crashes when told":  {2: plugin.Crashed},
		"garbage at the ask": {3: plugin.InvalidAnswer},
	} {
		w := &world{t: t, snapshot: true, history: make([]sdk.Event, 6), failAt: failAt}
		for i := range w.history {
			w.history[i].Number = uint64(i + 1)
		}
		c := w.supervision()
		c.Through, c.Snapshot, c.SnapshotAt = 6, []byte("5"), 5
		forgot := 0
		c.SnapshotDropped = func(error) { forgot++ }
		s, err := plugin.SuperviseSearcher(t.Context(), c,
			func(_ context.Context, b []byte) (plugin.Searcher, error) { return w.open(b) })
		if err != nil {
			t.Fatal(name, err)
		}
		answer, err := s.Suggest(t.Context(), make([]sdk.Request, 1))
		if err != nil || answer.Points[0][2] != 6 || forgot != 1 || len(w.failures) != 0 {
			t.Errorf("%s: %v, %v, forgotten %d times, failures %v", name, answer, err, forgot, w.failures)
		}
	}
}

// A failed snapshot does not count as a failure; the next call finds a plugin that knows all events.
func TestFailedSnapshotIsNoStrike(t *testing.T) {
	w := &world{t: t, snapshot: true, failAt: map[int]plugin.Failure{}}
	s := w.searcher()
	for i := range 5 {
		w.observe(s)
		w.failAt[w.calls+1] = plugin.Crashed
		if _, err := s.Snapshot(t.Context()); err == nil {
			t.Fatal("it was made")
		}
		answer, err := s.Suggest(t.Context(), make([]sdk.Request, 1))
		if err != nil || answer.Points[0][2] != float64(i+1) {
			t.Fatal(answer, err)
		}
	}
}

// A host that leaves in the middle of a call does not start the plugin again for the calls that still wait.
func TestNoRestartForAHostThatLeaves(t *testing.T) {
	w := &world{t: t, snapshot: true}
	s := w.searcher()
	w.observe(s)
	ctx, leave := context.WithCancel(t.Context())
	w.failAt = map[int]plugin.Failure{w.calls + 1: plugin.Hung}
	w.each = leave
	if _, err := s.Snapshot(ctx); err == nil {
		t.Error("the cut off call succeeded")
	}
	if _, err := s.Suggest(ctx, []sdk.Request{{}}); !errors.Is(err, context.Canceled) || w.opens != 1 {
		t.Errorf("%v, opened %d times; want once", err, w.opens)
	}
}
