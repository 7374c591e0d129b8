package sim

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/plugins/catalog"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// registry has the plugins of the experiment, each in a wrapper that sometimes fails and
// records the events that it receives.
func (w *world) registry() *bundled.Registry {
	var list []any
	for _, p := range catalog.Searchers {
		if p.Name == w.plan.experiment.Searcher.Name {
			list = append(list, w.searcher(p))
		}
	}
	for _, p := range catalog.Schedulers {
		if p.Name == w.plan.experiment.Scheduler.Name {
			list = append(list, w.schedulerPlugin(p))
		}
	}
	return bundled.New(list...)
}

func (w *world) searcher(p sdk.SearcherPlugin) sdk.SearcherPlugin {
	open := p.Open
	p.Open = func(problem sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
		w.opening()
		s, traits, err := open(problem, options)
		x := &searcher{ear: ear{w: w, chain: &w.books.searcher, who: identity(p.Name, problem, options)}, Searcher: s}
		if traits.Independent {
			x.chain = &w.books.independent
		}
		if !w.plan.remembers {
			return x, traits, err
		}
		x.restored = func(events []sdk.Event) error { return s.Observe(context.Background(), events) }
		return &rememberingSearcher{x, memory{&x.ear}}, traits, err
	}
	return p
}

func (w *world) schedulerPlugin(p sdk.SchedulerPlugin) sdk.SchedulerPlugin {
	open := p.Open
	p.Open = func(problem sdk.Problem, options []byte) (sdk.Scheduler, sdk.Traits, error) {
		w.opening()
		s, traits, err := open(problem, options)
		w.schedulerSeed = problem.Seed
		x := &scheduler{ear: ear{w: w, chain: &w.books.scheduler, who: identity(p.Name, problem, options)},
			Scheduler: s}
		if !w.plan.remembers {
			return x, traits, err
		}
		x.restored = func(events []sdk.Event) error {
			_, err := s.Decide(context.Background(), events)
			return err
		}
		return &rememberingScheduler{x, memory{&x.ear}}, traits, err
	}
	return p
}

// identity tells plugins that may answer differently to the same history.
func identity(name string, p sdk.Problem, options []byte) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, name, string(options), p.Seed, p.Trials, p.Concurrency, string(p.Request), string(p.Capacity))
	return h.Sum64()
}

// opening is called before a plugin is opened. If opening fails, the plugin hangs or crashes: an
// error would mean that it refuses its options, and would not be retried.
func (w *world) opening() {
	w.books.settle()
	if err := w.trouble(); err != nil {
		panic(err)
	}
}

// trouble makes a plugin crash or hang in a call.
func (w *world) trouble() error {
	switch {
	case w.one(w.faults.plugin):
		return errors.New("exit status 2")
	case w.one(w.faults.plugin / 4):
		w.now += int64(5 * time.Minute)
		return errors.New("it did not answer within its deadline")
	}
	return nil
}

// ear checks that a plugin receives the events of the record, in order and each once.
type ear struct {
	w     *world
	chain *chain
	who   uint64 // the plugin, its options and its problem
	hash  uint64 // of all received events
	last  uint64 // event

	events   []sdk.Event // all of them, if the plugin makes snapshots
	restored func([]sdk.Event) error
}

func (e *ear) listen(events []sdk.Event) {
	b := e.w.books
	if e.restored != nil {
		e.events = append(e.events, events...)
	}
	for i := range events {
		x := &events[i]
		if x.Number <= e.last {
			b.fail("a plugin hears event %d after event %d", x.Number, e.last)
		}
		e.hash, e.last = mix(e.hash, eventHash(x)), x.Number
		if want, ok := e.chain.at(x.Number); !ok || want.hash != e.hash {
			b.fail("what a plugin has heard up to event %d is not what happened; it heard %+v, and the last should be "+
				"%+v", x.Number, x, want.want)
			return
		}
	}
}

// memory makes snapshots for a plugin that makes none itself: the events that it has
// received. The events stay in memory; the snapshot refers to them and to the state of the ear.
type memory struct{ ear *ear }

// Snapshot implements sdk.Snapshotter.
func (m memory) Snapshot() ([]byte, error) {
	if err := m.ear.w.trouble(); err != nil {
		return nil, err
	}
	w := m.ear.w
	w.memories = append(w.memories, slices.Clip(m.ear.events))
	var b []byte
	for _, x := range []uint64{m.ear.hash, m.ear.last, uint64(len(w.memories)), m.ear.who} {
		b = binary.BigEndian.AppendUint64(b, x)
	}
	return b, nil
}

// Restore implements sdk.Snapshotter.
func (m memory) Restore(b []byte) error {
	if err := m.ear.w.trouble(); err != nil {
		return err
	}
	if len(b) != 32 || len(m.ear.events) > 0 || binary.BigEndian.Uint64(b[24:]) != m.ear.who {
		m.ear.w.books.fail("a plugin is opened with what is no snapshot of it: %x", b)
		return errors.New("that is no snapshot")
	}
	m.ear.w.log("a plugin continues from its snapshot of event %d", binary.BigEndian.Uint64(b[8:]))
	m.ear.hash, m.ear.last = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	m.ear.events = m.ear.w.memories[binary.BigEndian.Uint64(b[16:])-1]
	return m.ear.restored(m.ear.events)
}

type rememberingSearcher struct {
	*searcher
	memory
}

type rememberingScheduler struct {
	*scheduler
	memory
}

type searcher struct {
	ear
	sdk.Searcher
}

// Observe implements sdk.Searcher.
func (s *searcher) Observe(ctx context.Context, events []sdk.Event) error {
	if err := s.w.trouble(); err != nil {
		return err
	}
	s.listen(events)
	return s.Searcher.Observe(ctx, events)
}

// Suggest implements sdk.Searcher.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	if err := s.w.trouble(); err != nil {
		return sdk.Suggestions{}, err
	}
	answer, err := s.Searcher.Suggest(ctx, requests)
	if err != nil {
		return answer, err
	}
	if s.w.one(s.w.faults.garbage) {
		return s.w.garbled(answer), nil
	}
	s.w.books.suggested(s.who, s.hash, requests, answer)
	return answer, nil
}

// garbled returns an invalid answer.
func (w *world) garbled(answer sdk.Suggestions) sdk.Suggestions {
	bad := space.Point{7, -1, 99}
	switch w.r.IntN(3) {
	case 0:
		bad = bad[:1]
	case 1:
		bad[0] = math.NaN()
	}
	answer.Points = append([]space.Point{bad}, answer.Points...)
	return answer
}

type scheduler struct {
	ear
	sdk.Scheduler
}

// Decide implements sdk.Scheduler.
func (s *scheduler) Decide(ctx context.Context, events []sdk.Event) (sdk.Decisions, error) {
	if err := s.w.trouble(); err != nil {
		return sdk.Decisions{}, err
	}
	before := s.hash
	s.listen(events)
	s.w.books.heardTo = s.last
	answer, err := s.Scheduler.Decide(ctx, events)
	if err == nil && s.w.one(s.w.faults.garbage) && len(events) > 0 {
		return sdk.Decisions{Decisions: []sdk.Decision{{Event: events[0].Number + 1000, Verdict: 9}}}, nil
	}
	if err == nil {
		s.w.books.decides(s.who, before, events, answer)
	}
	return answer, err
}
