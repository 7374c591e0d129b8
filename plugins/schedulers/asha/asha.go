package asha

import (
	"context"
	"math"
	"strconv"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/each"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/hold"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
)

type scheduler struct {
	options   options
	objective objective.Objective
	seed      uint64
	brackets  []bracket
	trials    table.Table[trial]
	crowd     hold.Crowd
}

// A trial has 24 bytes, so that a million need little memory.
type trial struct {
	hold    hold.Trial
	known   bool // its bracket is set
	told    bool // the host knows the next iteration that needs a decision
	bracket uint8
	next    uint8 // the next rung of its bracket
}

// Decide processes the events one by one; see the rules of the package.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	return each.Event(events, s.apply)
}

func (s *scheduler) apply(e *sdk.Event, out *sdk.Decisions) {
	switch e.Kind {
	case sdk.ExperimentEnded:
		return
	case sdk.SearchEnded:
		s.crowd.EndSearch()
	case sdk.ResultReported:
		s.result(e, s.trial(e.Trial), out)
	default:
		s.follow(e, s.trial(e.Trial), out)
	}
	s.crowd.Release(s.held, s.leftBehind, out)
}

// trial returns the state of a trial, and assigns a new trial to its bracket.
func (s *scheduler) trial(number uint32) *trial {
	t := s.trials.At(number)
	if !t.known {
		t.known, t.bracket = true, draw(s.brackets, s.seed, number)
		s.crowd.Add()
	}
	return t
}

func (s *scheduler) held(number uint32) *hold.Trial { return &s.trials.At(number).hold }

// result decides a due result; other results continue without an answer.
func (s *scheduler) result(e *sdk.Event, t *trial, out *sdk.Decisions) {
	if reason, doomed := t.hold.StopPending(); doomed {
		out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: reason})
	}
	if !t.hold.Free() {
		return
	}
	b := &s.brackets[t.bracket]
	switch k := b.reached(t, e.Iteration); {
	case e.Iteration >= s.options.Max:
		s.record(b, k, e, t, out)
		out.Decisions = append(out.Decisions, s.stop(e, t, s.finished()))
	case k >= 0:
		entered := s.record(b, k, e, t, out)
		out.Decisions = append(out.Decisions, s.verdict(e, t, k, entered))
	case !t.told:
		out.Decisions = append(out.Decisions, s.goOn(e, t))
	}
}

// reached returns the highest rung up to the iteration, above all rungs at which the trial was
// recorded, or -1.
func (b *bracket) reached(t *trial, iteration uint64) int {
	k := -1
	for i := int(t.next); i < len(b.at) && b.at[i] <= iteration; i++ {
		k = i
	}
	return k
}

// record records the event's loss at rung k, if there is one, and wakes another trial that became
// promotable. It reports whether the trial itself is among the best.
func (s *scheduler) record(b *bracket, k int, e *sdk.Event, t *trial, out *sdk.Decisions) bool {
	if k < 0 {
		return false
	}
	t.next = uint8(k + 1)
	loss := s.objective.Loss(e)
	entered, ok := b.rungs[k].Add(loss, e.Trial)
	if ok && entered != e.Trial {
		s.promote(b, k, entered, out)
	}
	if s.options.Type == promotion {
		return ok && entered == e.Trial
	}
	cut, _ := b.rungs[k].Cut()
	return loss <= cut
}

// promote wakes a trial held at rung k. Trials that are not held may become one of the best too:
// those that ended, and those promoted long ago that fell behind and are among the best again
// because their number has grown.
func (s *scheduler) promote(b *bracket, k int, number uint32, out *sdk.Decisions) {
	t := s.trials.At(number)
	if s.options.Type != promotion || !t.hold.Held() && !t.hold.Late() || int(t.next) != k+1 {
		return
	}
	s.crowd.Wake(number, &t.hold, string(s.among([]byte("promoted: "), b, k)), out)
}

// verdict decides on a trial that was just recorded at rung k, below max.
func (s *scheduler) verdict(e *sdk.Event, t *trial, k int, best bool) sdk.Decision {
	loss := s.objective.Loss(e)
	switch {
	case math.IsInf(loss, 1):
		return s.stop(e, t, s.objective.Name()+" at iteration "+strconv.FormatUint(e.Iteration,
			10)+" is not a finite number")
	case best:
		return s.goOn(e, t)
	case s.options.Type == promotion:
		return s.pause(e, t, s.waits(e, t, k))
	}
	return s.stop(e, t, s.notAmong(e, t, k))
}

func (s *scheduler) goOn(e *sdk.Event, t *trial) sdk.Decision {
	t.told = true
	until := s.options.Max
	if at := s.brackets[t.bracket].at; int(t.next) < len(at) {
		until = at[t.next]
	}
	return sdk.Decision{Event: e.Number, Until: until}
}

func (s *scheduler) stop(e *sdk.Event, t *trial, reason string) sdk.Decision {
	s.crowd.End(&t.hold)
	return sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: reason}
}

func (s *scheduler) pause(e *sdk.Event, t *trial, reason string) sdk.Decision {
	t.told = false
	s.crowd.Pause(e.Trial, &t.hold)
	return sdk.Decision{Event: e.Number, Verdict: sdk.Pause, Reason: reason}
}

// follow processes all events except results.
func (s *scheduler) follow(e *sdk.Event, t *trial, out *sdk.Decisions) {
	switch e.Kind {
	case sdk.TrialCompleted:
		s.last(e, t, out)
		s.crowd.End(&t.hold)
	case sdk.TrialFailed, sdk.TrialRemoved:
		s.crowd.End(&t.hold)
	default:
		s.crowd.Observe(e, &t.hold, out)
	}
}

// last records the last result of a trial that something else ended at a rung.
func (s *scheduler) last(e *sdk.Event, t *trial, out *sdk.Decisions) {
	if !t.hold.Free() || len(e.Losses) == 0 {
		return
	}
	b := &s.brackets[t.bracket]
	s.record(b, b.reached(t, e.Iteration), e, t, out)
}
