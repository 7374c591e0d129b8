// Command scaffold-name is a scheduler for tunehost: it stops a trial whose result is worse than the
// median of what other trials reported at the same iteration.
//
// You may change everything here, but this must stay true: answers depend only on the problem, the
// options and the events, and not on how the events were split into calls. A crashed scheduler is
// started again and told the same events.
package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

func main() { serve.Scheduler(plugin) }

var plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "scaffold-name",
		Version: "0.1.0",
		Summary: "Stops trials that are worse than the median of the others.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Grace  uint64
	Others int
}

// declared are the options: tunehost checks what users write, and shows them in `tunehost plugins
// describe`.
var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("grace", &o.Grace, 2, option.From(1),
			"Iterations before which no trial is stopped."),
		option.Int("others", &o.Others, 3, option.From(1),
			"The least number of other trials' results that a result is compared with."),
	}
})

// open is called once, before anything else.
func open(_ sdk.Problem, text []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return &scheduler{options: o, last: map[uint32]uint64{}, losses: map[uint64][]float64{}}, sdk.Traits{}, nil
}

type scheduler struct {
	options
	last   map[uint32]uint64    // by trial, the last iteration that was judged
	losses map[uint64][]float64 // by iteration, sorted
}

// Decide receives what happened, in order, and answers the results. A result without an answer
// continues.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	var out sdk.Decisions
	for i := range events {
		// A trial that continues from a checkpoint may repeat iterations.
		e := &events[i]
		if e.Kind != sdk.ResultReported || e.Iteration <= s.last[e.Trial] {
			continue
		}
		s.last[e.Trial] = e.Iteration
		if reason := s.judge(e); reason != "" {
			out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: reason})
		}
	}
	return out, nil
}

// judge says why a trial is to stop, or nothing. Smaller losses are better; a missing one is +Inf.
func (s *scheduler) judge(e *sdk.Event) (reason string) {
	others, loss := s.losses[e.Iteration], e.Losses[0]
	if e.Iteration >= s.Grace && len(others) >= s.Others {
		if median := others[len(others)/2]; loss > median {
			reason = fmt.Sprintf("worse than the median of %d trials at iteration %d", len(others), e.Iteration)
		}
	}
	at, _ := slices.BinarySearch(others, loss)
	s.losses[e.Iteration] = slices.Insert(others, at, loss)
	return reason
}
