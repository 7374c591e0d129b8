package searchtest

import (
	"context"
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A Problem is a function to minimise.
type Problem struct {
	Name  string
	Space *space.Space
	Loss  func(space.Point) float64
}

// Problems returns problems of each sort.
func Problems() []Problem {
	return []Problem{
		{"branin", Reals(2, 0, 1), Branin},
		{"hartmann6", Reals(6, 0, 1), Hartmann6},
		{"mixed", EveryForm(), EveryFormLoss},
		{"conditional", Tree(), TreeLoss},
	}
}

// Open opens a searcher.
func Open(t testing.TB, p sdk.SearcherPlugin, s *space.Space, options string, objectives int) sdk.Searcher {
	t.Helper()
	searcher, _, err := p.Open(sdk.Problem{Space: s, Objectives: make([]sdk.Objective, objectives)}, []byte(options))
	if err != nil {
		t.Fatal(err)
	}
	return searcher
}

// Request returns the request of a trial in run number run.
func Request(run, trial int) sdk.Request {
	seed := uint64(run)<<32 | uint64(trial) + 1
	return sdk.Request{Trial: uint32(trial), Seed: seed * 0x9e3779b97f4a7c15}
}

// Suggest requests suggestions.
func Suggest(t testing.TB, s sdk.Searcher, requests ...sdk.Request) sdk.Suggestions {
	t.Helper()
	answer, err := s.Suggest(context.Background(), requests)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// Observe sends events.
func Observe(t testing.TB, s sdk.Searcher, events ...sdk.Event) {
	t.Helper()
	if err := s.Observe(context.Background(), events); err != nil {
		t.Fatal(err)
	}
}

// Added returns the event of a new trial.
func Added(trial int, p space.Point) sdk.Event {
	return sdk.Event{Kind: sdk.TrialAdded, Trial: uint32(trial), Point: p}
}

// Completed returns the event of a trial's end.
func Completed(trial int, losses ...float64) sdk.Event {
	return sdk.Event{Kind: sdk.TrialCompleted, Trial: uint32(trial), Losses: losses}
}

// Run requests n trials, parallel at a time, reports their ends in the order of their starts, and
// returns their points, which must lie in the space.
func Run(t testing.TB, s sdk.Searcher, sp *space.Space, run, n, parallel int,
	f func(space.Point) []float64) (points []space.Point) {
	t.Helper()
	for i := range n + parallel - 1 {
		if i < n {
			answer := Suggest(t, s, Request(run, i))
			if len(answer.Points) == 0 {
				return points
			}
			p := answer.Points[0]
			if err := sp.Check(p); err != nil || !sp.Holds(p) {
				t.Fatalf("trial %d: %v: %v", i, p, err)
			}
			points = append(points, p)
			Observe(t, s, Added(i, p))
		}
		if ended := i - parallel + 1; ended >= 0 && ended < len(points) {
			Observe(t, s, Completed(ended, f(points[ended])...))
		}
	}
	return points
}

// Best returns the mean over runs of the best loss of n trials.
func Best(t testing.TB, p sdk.SearcherPlugin, problem Problem, options string, runs, n int) (mean float64) {
	t.Helper()
	for run := range runs {
		low := math.Inf(1)
		Run(t, Open(t, p, problem.Space, options, 1), problem.Space, run, n, 1, func(p space.Point) []float64 {
			loss := problem.Loss(p)
			low = min(low, loss)
			return []float64{loss}
		})
		mean += low / float64(runs)
	}
	return mean
}
