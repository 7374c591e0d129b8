package core_test

import (
	"context"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// halving is a crowd with a real scheduler: asha, in process.
type halving struct {
	*crowd
	scheduler sdk.Scheduler
	told      []sdk.Event
	losses    []float64 // of told
	stopped   []bool
	results   int
}

var kinds = [...]sdk.EventKind{core.SawAdded: sdk.TrialAdded, core.SawStarted: sdk.TrialStarted,
	core.SawResult: sdk.ResultReported, core.SawCompleted: sdk.TrialCompleted, core.SawSearchEnded: sdk.SearchEnded}

func (h *halving) do(b *testing.B, e core.Event, loss float64) {
	h.at += 1000
	due := false
	for _, a := range h.m.Apply(h.at, e) {
		switch a := a.(type) {
		case core.AskSearcher:
			h.ask = a
		case core.StartAttempt:
			h.starts = append(h.starts, a)
		case core.StopAttempt:
			h.stopped[a.Trial] = true
		case *core.Tell:
			if o := a.Observation; o.To&core.ToScheduler != 0 {
				due = due || o.Due
				h.losses = append(h.losses, loss)
				h.told = append(h.told, sdk.Event{Number: o.Number, Kind: kinds[o.Kind], Trial: uint32(o.Trial),
					Attempt: o.Attempt, Iteration: o.Iteration, Losses: h.losses[len(h.losses)-1:]})
			}
		}
	}
	if !due {
		return
	}
	answer, err := h.scheduler.Decide(context.Background(), h.told)
	if err != nil {
		b.Fatal(err)
	}
	h.decided = core.SchedulerDecided{Through: h.told[len(h.told)-1].Number, Decisions: h.decided.Decisions[:0]}
	h.told, h.losses = h.told[:0], h.losses[:0]
	for _, d := range answer.Decisions {
		h.decided.Decisions = append(h.decided.Decisions,
			core.Decision{Number: d.Event, Verdict: core.Verdict(d.Verdict), Until: d.Until, Reason: d.Reason})
	}
	h.do(b, &h.decided, 0)
}

// train runs one trial until asha stops it.
func (h *halving) train(b *testing.B, s core.StartAttempt) {
	h.do(b, h.start(s), 0)
	loss := float64((uint64(s.Trial)+1)*0x9e3779b97f4a7c15>>11) / (1 << 53)
	for !h.stopped[s.Trial] {
		h.results++
		h.do(b, h.events.report(s.Trial, s.Attempt, loss), loss)
	}
	h.do(b, h.end(s), loss)
	if h.ask.Count > 0 {
		e := h.suggestions(h.ask, h.params)
		h.ask.Count = 0
		h.do(b, e, 0)
	}
}

// processorTime is what this process has used, in seconds: on a shared machine it says more than
// elapsed time.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkASHA is an experiment of 100,000 trials with asha: the core and the scheduler, and nothing
// else. With milestones at 1, 3, 9 and 27 most trials end after one result; with the first milestone
// at 27 each has at least that many.
func BenchmarkASHA(b *testing.B) {
	b.Run("grace=1", func(b *testing.B) { benchmarkASHA(b, `{"max":27}`) })
	b.Run("grace=27", func(b *testing.B) { benchmarkASHA(b, `{"max":243,"grace":27}`) })
}

func benchmarkASHA(b *testing.B, options string) {
	const trials = 100_000
	results, before := 0, processorTime()
	for b.Loop() {
		scheduler, _, err := asha.Plugin.Open(sdk.Problem{Space: &space.Space{},
			Objectives: []sdk.Objective{{Metric: "acc", Mode: sdk.Min}}, Trials: trials}, []byte(options))
		if err != nil {
			b.Fatal(err)
		}
		h := &halving{crowd: newCrowd(trials, 100, false), scheduler: scheduler, stopped: make([]bool, trials)}
		h.fill()
		for len(h.starts) > 0 {
			s := h.starts[0]
			h.starts = h.starts[1:]
			h.train(b, s)
		}
		results += h.results
	}
	b.ReportMetric(float64(results)/(processorTime()-before), "results/cpu-s")
	b.ReportMetric(float64(results)/b.Elapsed().Seconds(), "results/s")
}
