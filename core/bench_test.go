package core_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
)

// crowd is an experiment whose neighbours do immediately what they are asked.
type crowd struct {
	m      *core.Machine
	at     int64
	record [][]byte
	keep   bool // whether to keep the record
	ask    core.AskSearcher
	starts []core.StartAttempt
	params []byte
	due    uint64 // the last observation to decide
	events
}

// events are used again for each event of their kind, as readers of a record do: the machine keeps none.
type events struct {
	suggested core.SuggestionsReceived
	started   core.AttemptStarted
	result    core.ResultReported
	decided   core.SchedulerDecided
	ended     core.AttemptEnded
}

func (x *events) suggestions(a core.AskSearcher, params []byte) core.Event {
	x.suggested = core.SuggestionsReceived{Ask: a.Ask, Suggestions: x.suggested.Suggestions[:0]}
	for range a.Count {
		x.suggested.Suggestions = append(x.suggested.Suggestions, core.Suggestion{Params: params})
	}
	return &x.suggested
}

func (x *events) start(s core.StartAttempt) core.Event {
	x.started = core.AttemptStarted{Trial: s.Trial, Attempt: s.Attempt, PID: 1}
	return &x.started
}

func (x *events) report(no core.TrialNo, attempt uint32, value float64) core.Event {
	x.result = core.ResultReported{Trial: no, Attempt: attempt,
		Metrics: append(x.result.Metrics[:0], core.Metric{ID: 1, Value: value})}
	return &x.result
}

func (x *events) end(s core.StartAttempt) core.Event {
	x.ended = core.AttemptEnded{Trial: s.Trial, Attempt: s.Attempt}
	return &x.ended
}

func newCrowd(trials int64, slots int, keep bool) *crowd {
	r, err := resource.ParseRequest("cpu=1")
	if err != nil {
		panic(err)
	}
	capacity, err := resource.ParseBundle(fmt.Sprintf("cpu=%d", slots))
	if err != nil {
		panic(err)
	}
	c := &crowd{m: core.New(), keep: keep, params: bytes.Repeat([]byte("x"), 60)}
	c.apply(&core.ExperimentStarted{Spec: core.Spec{Trials: trials, Request: r,
		Objectives: []core.Objective{{Metric: "acc", Mode: stat.Max}}}})
	c.apply(&core.HostStarted{Wall: 1, PID: 1, Host: "h"})
	c.apply(&core.MetricNamed{ID: 1, Name: "acc"})
	c.apply(&core.NodeJoined{Node: resource.Node{ID: 1, Capacity: capacity}})
	return c
}

func (c *crowd) apply(e core.Event) {
	c.at += 1000
	if c.keep {
		b, err := record.Append(nil, c.at, e)
		if err != nil {
			panic(err)
		}
		c.record = append(c.record, b)
	}
	for _, a := range c.m.Apply(c.at, e) {
		switch a := a.(type) {
		case core.AskSearcher:
			c.ask = a
		case core.StartAttempt:
			c.starts = append(c.starts, a)
		case *core.Tell:
			if a.Observation.Due {
				c.due = a.Observation.Number
			}
		}
	}
}

func (c *crowd) answer() {
	e := c.suggestions(c.ask, c.params)
	c.ask.Count = 0
	c.apply(e)
}

// fill starts as many trials as there are.
func (c *crowd) fill() {
	for c.ask.Count > 0 {
		c.answer()
	}
}

// report is a result and the decision to continue.
func (c *crowd) report(no core.TrialNo, attempt uint32) {
	c.apply(c.events.report(no, attempt, 0.5))
	c.decided = core.SchedulerDecided{Decisions: append(c.decided.Decisions[:0], core.Decision{Number: c.due})}
	c.apply(&c.decided)
}

// live runs the next trials to their ends, with some results each.
func (c *crowd) live(trials, results int) {
	for range trials {
		s := c.starts[0]
		c.starts = c.starts[1:]
		c.apply(c.start(s))
		for range results {
			c.report(s.Trial, s.Attempt)
		}
		c.apply(c.end(s))
		c.fill()
	}
}

// reportAll lets each running trial report once, which allocates its memory, and returns them.
func (c *crowd) reportAll() []core.StartAttempt {
	for _, s := range c.starts {
		c.report(s.Trial, s.Attempt)
	}
	runtime.GC()
	return c.starts
}

// BenchmarkResult: a result and its decision cost the same with a thousand trials and with a million,
// except for cache misses when a million run at the same time.
func BenchmarkResult(b *testing.B) {
	for _, n := range []struct{ trials, running int }{{1_000, 1_000}, {1_000_000, 1_000}, {1_000_000, 1_000_000}} {
		b.Run(fmt.Sprintf("trials=%d/running=%d", n.trials, n.running), func(b *testing.B) {
			c := newCrowd(int64(n.trials), n.running, false)
			c.fill()
			c.live(n.trials-n.running, 1)
			running := c.reportAll()
			if len(running) != n.running {
				b.Fatalf("%d run", len(running))
			}
			b.ReportAllocs()
			b.ResetTimer()
			at := 0
			for b.Loop() {
				at = (at + 7919) % len(running)
				c.report(running[at].Trial, running[at].Attempt)
			}
		})
	}
}

// BenchmarkTrial: a trial's whole life with 10 results, 100 at a time.
func BenchmarkTrial(b *testing.B) {
	for _, n := range []int{1_000, 200_000} {
		b.Run(fmt.Sprintf("trials=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := newCrowd(int64(n), 100, false)
				c.fill()
				c.live(n, 10)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/trial")
		})
	}
}

// BenchmarkMemory: the memory of a million finished trials, with 60 bytes of parameters and one metric
// each.
func BenchmarkMemory(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		c := newCrowd(n, 100, false)
		c.fill()
		c.live(n, 1)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/trial")
		b.ReportMetric(float64(after.Sys)/(1<<20), "MiB-sys")
		runtime.KeepAlive(c)
	}
}

// BenchmarkReplay: reading a record and applying it, per event: with package history, and without it.
func BenchmarkReplay(b *testing.B) {
	c := newCrowd(20_000, 100, true)
	c.fill()
	c.live(20_000, 10)
	run := func(name string, once func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			before := processorTime()
			for b.Loop() {
				if err := once(); err != nil {
					b.Fatal(err)
				}
			}
			events := float64(b.N * len(c.record))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/events, "ns/event")
			b.ReportMetric((processorTime()-before)*1e9/events, "cpu-ns/event")
		})
	}
	run("history", func() error {
		h := history.From(history.Records(1, c.record))
		return h.Each(func(s *history.Step) error {
			for range s.Observations(core.ToReporters) {
			}
			return nil
		})
	})
	run("alone", func() error { return replay(c.record, func() {}, record.Parse) })
	var pool record.Pool // as views of an experiment read it
	run("pool", func() error { return replay(c.record, pool.Free, pool.Parse) })
}

// replay applies records. Before each of them it calls free.
func replay(list [][]byte, free func(), parse func([]byte) (int64, core.Event, error)) error {
	m := core.New()
	for _, r := range list {
		free()
		at, e, err := parse(r)
		if err != nil {
			return err
		}
		m.Apply(at, e)
	}
	return nil
}
