package auto

import (
	"context"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/each"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
)

type scheduler struct {
	options   options
	objective objective.Objective
	seed      uint64
	rungs     []rung
	trials    table.Table[trial]
	// length is the highest iteration at which a trial was seen to end, or max.
	length uint64
}

type trial struct {
	ended bool
	told  bool    // the host knows the next iteration that needs a decision
	next  uint8   // the next rung at which it is recorded
	last  uint64  // the highest iteration of its results
	early []entry // its losses at the rungs so far
}

// An entry is a trial's loss at a rung.
type entry struct {
	rung uint8
	loss float64
}

// Decide processes the events one by one; see the rules of the package.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	return each.Stopper[trial]{Trials: &s.trials, Result: s.result, Completed: s.completed,
		Ended: (*trial).end}.Decide(events)
}

func (t *trial) end() { t.ended, t.early = true, nil }

// result decides a due result; other results continue without an answer.
func (s *scheduler) result(e *sdk.Event, t *trial) (d sdk.Decision, due bool) {
	if t.ended {
		return sdk.Decision{}, false
	}
	k := t.reached(e.Iteration)
	t.last = max(t.last, e.Iteration)
	switch {
	case s.options.Max > 0 && e.Iteration >= s.options.Max:
		s.finish(e, t)
		return sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: s.finished()}, true
	case k >= 0:
		return s.arrive(e, t, k), true
	case !t.told:
		return s.goOn(e, t), true
	}
	return sdk.Decision{}, false
}

// reached returns the highest rung up to the iteration, above all rungs at which the trial was
// recorded, or -1.
func (t *trial) reached(iteration uint64) int {
	k := -1
	for i := int(t.next); i < len(at) && at[i] <= iteration; i++ {
		k = i
	}
	return k
}

// arrive records the trial at rung k and decides whether it goes on.
func (s *scheduler) arrive(e *sdk.Event, t *trial, k int) sdk.Decision {
	loss := s.objective.Loss(e)
	r := s.rung(k)
	r.arrive(loss)
	t.next, t.early = uint8(k+1), append(t.early, entry{uint8(k), loss})
	if s.length > 0 && at[k] >= s.length || spared(s.seed, e.Trial) {
		return s.goOn(e, t)
	}
	known := r.trust()
	best, cut := r.best(known.kept())
	if loss <= cut {
		return s.goOn(e, t)
	}
	t.end()
	return sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: s.reason(e, k, known, best, cut)}
}

func (s *scheduler) rung(k int) *rung {
	for len(s.rungs) <= k {
		s.rungs = append(s.rungs, rung{})
	}
	return &s.rungs[k]
}

func (s *scheduler) goOn(e *sdk.Event, t *trial) sdk.Decision {
	t.told = true
	until := uint64(0)
	if int(t.next) < len(at) {
		until = at[t.next]
	}
	if s.options.Max > 0 {
		until = min(until, s.options.Max)
	}
	return sdk.Decision{Event: e.Number, Until: until}
}

// completed learns from a trial that ended, unless this scheduler has stopped it.
func (s *scheduler) completed(e *sdk.Event, t *trial) {
	if !t.ended && len(e.Losses) > 0 {
		s.finish(e, t)
	}
	t.end()
}

// finish pairs the trial's losses at the rungs with its last one.
func (s *scheduler) finish(e *sdk.Event, t *trial) {
	end := max(t.last, e.Iteration)
	s.length = max(s.length, end)
	final := s.objective.Loss(e)
	for _, x := range t.early {
		if at[x.rung] < end {
			s.rungs[x.rung].learn(x.loss, final)
		}
	}
	t.end()
}
