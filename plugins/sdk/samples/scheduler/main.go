// Command scheduler is the scheduler "halfway": at one iteration it stops trials that are worse
// than the median of the others at that iteration.
//
// It can be built as a program and as a WASM module:
//
//	go build -o halfway .
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o halfway.wasm .
package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

var halfway = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Name:    "halfway",
		Version: "1.0.0",
		Summary: "Stops trials that are worse than the median at one iteration.",
		Options: declared.Schema(),
	},
	Open: open,
}

func main() { serve.Scheduler(halfway) }

// fewest is the minimum number of other trials.
const fewest = 3

type options struct{ At uint64 }

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("at", &o.At, 5, option.From(1), "The iteration at which trials are compared."),
	}
})

type scheduler struct {
	options
	losses map[uint32]float64 // of each trial at the iteration
}

func open(_ sdk.Problem, text []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(text)
	return &scheduler{o, map[uint32]float64{}}, sdk.Traits{}, err
}

// Decide implements sdk.Scheduler.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (answer sdk.Decisions, err error) {
	for _, e := range events {
		if e.Kind == sdk.ResultReported {
			answer.Decisions = append(answer.Decisions, s.decide(e))
		}
	}
	return answer, nil
}

// decide needs no result before the iteration, and none after it.
func (s *scheduler) decide(e sdk.Event) sdk.Decision {
	if e.Iteration < s.At {
		return sdk.Decision{Event: e.Number, Until: s.At}
	}
	if _, again := s.losses[e.Trial]; again {
		return sdk.Decision{Event: e.Number, Until: math.MaxUint64}
	}
	loss, others := e.Losses[0], s.others()
	s.losses[e.Trial] = loss
	if len(others) >= fewest && loss > median(others) {
		return sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: fmt.Sprintf(
			"its loss %g at iteration %d is worse than %g, the median of %d others", loss, e.Iteration, median(others),
			len(others))}
	}
	return sdk.Decision{Event: e.Number, Until: math.MaxUint64}
}

// others returns the sorted losses of the other trials.
func (s *scheduler) others() []float64 {
	losses := make([]float64, 0, len(s.losses))
	for _, loss := range s.losses {
		losses = append(losses, loss)
	}
	slices.Sort(losses)
	return losses
}

// median returns the median of sorted numbers.
func median(x []float64) float64 {
	n := len(x)
	if n%2 == 1 {
		return x[n/2]
	}
	return x[n/2-1]/2 + x[n/2]/2
}
