// Package each has the loops over events that schedulers share: one event after the other, so that
// batches make no difference.
package each

import (
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Event calls apply with each event. Apply adds its decisions to out.
func Event(events []sdk.Event, apply func(e *sdk.Event, out *sdk.Decisions)) (sdk.Decisions, error) {
	var out sdk.Decisions // most calls bring no result, or one
	for i := range events {
		apply(&events[i], &out)
	}
	return out, nil
}

// Stopper has the rules of a scheduler that only stops trials. T is its state of a trial.
type Stopper[T any] struct {
	Trials *table.Table[T]
	// Result handles a result. Due says whether the decision is to be sent.
	Result func(e *sdk.Event, t *T) (d sdk.Decision, due bool)
	// Completed handles a trial's end without a failure, Ended every other end.
	Completed func(e *sdk.Event, t *T)
	Ended     func(t *T)
}

// Decide applies the rules to each event.
func (s Stopper[T]) Decide(events []sdk.Event) (sdk.Decisions, error) {
	var out sdk.Decisions
	for i := range events {
		switch e := &events[i]; e.Kind {
		case sdk.ResultReported:
			if d, due := s.Result(e, s.Trials.At(e.Trial)); due {
				out.Decisions = append(out.Decisions, d)
			}
		case sdk.TrialCompleted:
			s.Completed(e, s.Trials.At(e.Trial))
		case sdk.TrialFailed, sdk.TrialRemoved:
			s.Ended(s.Trials.At(e.Trial))
		}
	}
	return out, nil
}
