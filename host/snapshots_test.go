package host

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// chain is a state that every event changes, so that one that is lost, doubled
// or out of order changes all answers after it.
type chain struct {
	Hash uint64 `json:"hash"`
	Seen int    `json:"seen"`
	told int    // in this life

	mu sync.Mutex // a call may outlive the host that has left it
}

// seen is how many events it knows, and how many it was told in this life.
func (c *chain) seen() (all, told int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Seen, c.told
}

func (c *chain) add(events []sdk.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range events {
		c.Hash = mix(c.Hash ^ e.Number)
		c.Hash = mix(c.Hash ^ uint64(e.Kind)<<32 ^ uint64(e.Trial))
		for _, x := range e.Losses {
			c.Hash = mix(c.Hash ^ math.Float64bits(x))
		}
		c.Seen++
		c.told++
	}
}

// lives notes each life of the chained plugins, and makes snapshots fail.
type lives struct {
	mu       sync.Mutex
	all      []*chain
	restored int
	snapshot func() error
	restore  func() error
	// suggests is called before each suggestion with how many events the searcher knows.
	suggests func(seen int)
}

func (l *lives) begin() *chain {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, &chain{})
	return l.all[len(l.all)-1]
}

func (l *lives) save(c *chain) ([]byte, error) {
	if l.snapshot != nil {
		if err := l.snapshot(); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return json.Marshal(c)
}

func (l *lives) load(c *chain, b []byte) error {
	if l.restore != nil {
		if err := l.restore(); err != nil {
			return err
		}
	}
	l.mu.Lock()
	l.restored++
	l.mu.Unlock()
	return json.Unmarshal(b, c)
}

type chainedSearcher struct {
	*chain
	lives *lives
	dims  int
}

func (s chainedSearcher) Observe(_ context.Context, events []sdk.Event) error {
	s.add(events)
	return nil
}

func (s chainedSearcher) Suggest(_ context.Context, requests []sdk.Request) (answer sdk.Suggestions, _ error) {
	if s.lives.suggests != nil {
		s.lives.suggests(s.Seen)
	}
	for _, r := range requests {
		p := make(space.Point, s.dims)
		for i := range p {
			p[i] = float64(mix(s.Hash^r.Seed^uint64(i))>>11) / (1 << 53)
		}
		answer.Points = append(answer.Points, p)
	}
	return answer, nil
}

func (s chainedSearcher) Snapshot() ([]byte, error) { return s.lives.save(s.chain) }
func (s chainedSearcher) Restore(b []byte) error    { return s.lives.load(s.chain, b) }

func (l *lives) searcher() sdk.SearcherPlugin {
	return sdk.SearcherPlugin{
		Info: sdk.Info{Name: "chained", Version: "1", Options: noOptions},
		Open: func(p sdk.Problem, _ []byte) (sdk.Searcher, sdk.Traits, error) {
			return chainedSearcher{l.begin(), l, len(p.Space.Params)}, sdk.Traits{}, nil
		},
	}
}

type chainedScheduler struct {
	*chain
	lives *lives
}

func (s chainedScheduler) Decide(_ context.Context, events []sdk.Event) (answer sdk.Decisions, _ error) {
	for i, e := range events {
		s.add(events[i : i+1])
		if e.Kind == sdk.ResultReported && s.Hash%5 == 0 {
			answer.Decisions = append(answer.Decisions,
				sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: "its number came up"})
		}
	}
	return answer, nil
}

func (s chainedScheduler) Snapshot() ([]byte, error) { return s.lives.save(s.chain) }
func (s chainedScheduler) Restore(b []byte) error    { return s.lives.load(s.chain, b) }

func (l *lives) scheduler() sdk.SchedulerPlugin {
	return sdk.SchedulerPlugin{
		Info: sdk.Info{Name: "chained", Version: "1", Options: noOptions},
		Open: func(sdk.Problem, []byte) (sdk.Scheduler, sdk.Traits, error) {
			return chainedScheduler{l.begin(), l}, sdk.Traits{}, nil
		},
	}
}

const chained = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 5, any_params: true}}
space: {quality: {uniform: [0, 1]}}
searcher: chained
scheduler: chained
seed: 3
concurrency: 3
trials: 60
`

// chainedRun runs an experiment that is interrupted in its middle: by its searcher, without which it cannot go far.
func chainedRun(t *testing.T) (o Options, searchers, schedulers *lives, dir string) {
	t.Helper()
	searchers, schedulers = &lives{}, &lives{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	searchers.suggests = func(seen int) {
		if seen > 80 {
			cancel()
		}
	}
	o, _ = quick(t, strings.Replace(chained, "trials: 60", "trials: 3000", 1), searchers.searcher(),
		schedulers.scheduler())
	o.Mode.SnapshotEvery = 20
	ended, err := run(ctx, o)
	if err != nil || ended.Outcome != core.InterruptedByUser {
		t.Fatalf("%+v %v", ended, err)
	}
	searchers.suggests = nil
	o.Sets = []string{"budget.when=trials >= 35"}
	return o, searchers, schedulers, ended.Dir
}

// An experiment that is taken up tells its plugins only what came after their
// snapshots; whatever they answer is what one answers that has lived through all
// of it, which each test here checks by a replay at its end. B-077
func TestResumeFromSnapshots(t *testing.T) {
	o, searchers, schedulers, dir := chainedRun(t)
	s := finish(t, o)
	if s.Outcome != core.Finished {
		t.Fatalf("%+v", s)
	}
	for name, l := range map[string]*lives{"searcher": searchers, "scheduler": schedulers} {
		if len(l.all) != 2 || l.restored != 1 {
			t.Errorf("%s: %d lives, %d of them from a snapshot; want 2 and 1", name, len(l.all), l.restored)
		}
		first, _ := l.all[0].seen()
		if all, told := l.all[1].seen(); all-told < 20 || all-told > first { // a slow disk may be some snapshots behind
			t.Errorf("%s: its first life saw %d events, its second began after %d", name, first, all-told)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "snapshots", name+"-*")); len(files) != 2 {
			t.Errorf("the files are %v, want two", files)
		}
	}
}

// Snapshots that are damaged, torn, of other settings or of events that the
// record does not have are passed over, and so is one that the plugin refuses or
// dies of: the plugin is told the whole history instead.
func TestBadSnapshots(t *testing.T) {
	all := func(change func([]byte) []byte) func(*testing.T, string, *lives, *Options) {
		return func(t *testing.T, dir string, _ *lives, _ *Options) {
			files, err := filepath.Glob(filepath.Join(dir, "snapshots", "*"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f, change(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for name, spoil := range map[string]func(*testing.T, string, *lives, *Options){
		"flipped": all(func(b []byte) []byte { b[len(b)-2] ^= 1; return b }),
		"torn":    all(func(b []byte) []byte { return b[:len(b)-3] }),
		"empty":   all(func([]byte) []byte { return nil }),
		"nonsense": all(func([]byte) []byte {
			return []byte(strings.Repeat("[", 1<<20))
		}),
		"refused": func(_ *testing.T, _ string, l *lives, _ *Options) {
			l.restore = func() error { return errors.New("of an older release") }
		},
		"panics": func(_ *testing.T, _ string, l *lives, _ *Options) { l.restore = func() error { panic("no luck") } },
		"other settings": func(_ *testing.T, _ string, _ *lives, o *Options) {
			o.Sets = append(o.Sets, "concurrency=2")
		},
		"gone": func(t *testing.T, dir string, _ *lives, _ *Options) {
			if err := os.RemoveAll(filepath.Join(dir, "snapshots")); err != nil {
				t.Fatal(err)
			}
		},
		"links": func(t *testing.T, dir string, _ *lives, _ *Options) {
			files, _ := filepath.Glob(filepath.Join(dir, "snapshots", "*"))
			for _, f := range files {
				if err := errors.Join(os.Remove(f), os.Symlink("/dev/zero", f)); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, searchers, schedulers, dir := chainedRun(t)
			spoil(t, dir, searchers, &o)
			schedulers.restore = searchers.restore
			if ended := finish(t, o); ended.Outcome != core.Finished {
				t.Fatalf("%+v", ended)
			}
			for _, l := range []*lives{searchers, schedulers} {
				if all, told := l.all[len(l.all)-1].seen(); l.restored != 0 || all != told {
					t.Errorf("restored %d times; it saw %d events, and was told %d", l.restored, all, told)
				}
			}
		})
	}
}

// A plugin whose snapshots fail is asked for no more, and continues.
func TestSnapshotFails(t *testing.T) {
	searchers, schedulers := &lives{}, &lives{}
	calls := 0
	searchers.snapshot = func() error { calls++; return errors.New("too large") }
	o, seen := quick(t, chained, searchers.searcher(), schedulers.scheduler())
	o.Mode.SnapshotEvery = 10
	if ended := finish(t, o); ended.Outcome != core.Finished || calls != 1 {
		t.Errorf("%+v after %d calls, want one", ended, calls)
	}
	contains(t, seen.String(), "the searcher is not asked for snapshots any more", "too large")
}
