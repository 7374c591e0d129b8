package pasha

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/each"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/hold"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/rung"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
)

type scheduler struct {
	options   options
	objective objective.Objective
	at        []uint64 // the rungs' iterations, increasing
	rungs     []rung.Rung
	top       int     // the highest open rung: no trial continues from it
	ranking   ranking // of the trials at the top
	trials    table.Table[trial]
	crowd     hold.Crowd
}

type trial struct {
	hold  hold.Trial
	known bool
	told  bool  // the host knows the next iteration that needs a decision
	next  uint8 // the next rung at which it is recorded
	loss  float64
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

func (s *scheduler) trial(number uint32) *trial {
	t := s.trials.At(number)
	if !t.known {
		t.known = true
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
	switch k := s.reached(e, t); {
	case e.Iteration >= s.options.Max:
		s.record(k, e, t, out)
		out.Decisions = append(out.Decisions, s.stop(e, t,
			fmt.Sprintf("finished: max is %d iterations", s.options.Max)))
	case k >= 0:
		best := s.record(k, e, t, out)
		out.Decisions = append(out.Decisions, s.verdict(e, t, k, best))
	case !t.told:
		out.Decisions = append(out.Decisions, s.goOn(e, t))
	}
}

// reached returns the highest open rung up to the iteration, above all rungs at which the trial was
// recorded, or -1.
func (s *scheduler) reached(e *sdk.Event, t *trial) int {
	k := -1
	for i := int(t.next); i <= s.top && i < len(s.at) && s.at[i] <= e.Iteration; i++ {
		k = i
	}
	return k
}

// record records the event's loss at rung k, if there is one, wakes the trials that may continue
// now, and reports whether the trial itself may.
func (s *scheduler) record(k int, e *sdk.Event, t *trial, out *sdk.Decisions) (best bool) {
	if k < 0 {
		return false
	}
	loss, below := s.objective.Loss(e), t.loss
	if int(t.next) != k { // it skipped the rung below
		below = math.NaN()
	}
	t.next, t.loss = uint8(k+1), loss
	entered, ok := s.rungs[k].Add(loss, e.Trial)
	if k < s.top {
		if ok && entered != e.Trial {
			s.promote(k, entered, out)
		}
		return ok && entered == e.Trial
	}
	if !math.IsInf(loss, 1) {
		s.ranking.add(e.Trial, loss, below)
	}
	return s.open(e.Trial, out)
}

// open opens the next rung if the ranking at the highest has changed, and lets the best continue;
// it reports whether the trial that just arrived is one of them.
func (s *scheduler) open(arrived uint32, out *sdk.Decisions) (best bool) {
	if s.ranking.stable(s.epsilon()) {
		return false
	}
	k, all := s.top, s.ranking.now
	s.top, s.ranking = s.top+1, ranking{}
	for _, m := range all[:min(len(all), s.rungs[k].Len()/int(s.options.Factor))] {
		if m.trial == arrived {
			best = true
			continue
		}
		s.promote(k, m.trial, out)
	}
	return best
}

func (s *scheduler) epsilon() float64 {
	if s.options.Epsilon > 0 {
		return s.options.Epsilon
	}
	return s.ranking.spacing()
}

// promote wakes a trial held at rung k, unless it has ended, or was promoted long ago, fell behind
// and is among the best again because their number has grown.
func (s *scheduler) promote(k int, number uint32, out *sdk.Decisions) {
	t := s.trials.At(number)
	if !t.hold.Held() && !t.hold.Late() || int(t.next) != k+1 {
		return
	}
	r := &s.rungs[k]
	s.crowd.Wake(number, &t.hold, fmt.Sprintf("promoted: among the best %d of %d at rung %d", r.Best(), r.Len(),
		s.at[k]), out)
}

// verdict decides on a trial that was just recorded at rung k, below max.
func (s *scheduler) verdict(e *sdk.Event, t *trial, k int, best bool) sdk.Decision {
	switch {
	case math.IsInf(t.loss, 1):
		return s.stop(e, t, s.objective.Name()+" at iteration "+strconv.FormatUint(e.Iteration,
			10)+" is not a finite number")
	case best:
		return s.goOn(e, t)
	}
	return s.pause(e, t, s.waits(e, t, k))
}

// waits returns why the trial does not continue from rung k.
func (s *scheduler) waits(e *sdk.Event, t *trial, k int) string {
	r, value := &s.rungs[k], s.objective.Text(t.loss)
	switch {
	case k == s.top:
		return fmt.Sprintf("%s at iteration %d: the order of the %d at rung %d is still that of rung %d, so that none "+
			"goes beyond",
			value, e.Iteration, len(s.ranking.now), s.at[k], s.at[k-1])
	case r.Best() == 0:
		return fmt.Sprintf("waits at rung %d for others (%d of %d)", s.at[k], r.Len(), s.options.Factor)
	}
	cut, _ := r.Cut()
	return fmt.Sprintf("%s at iteration %d is not among the best %d of %d at rung %d (%s or better)",
		value, e.Iteration, r.Best(), r.Len(), s.at[k], s.objective.Value(cut))
}

func (s *scheduler) goOn(e *sdk.Event, t *trial) sdk.Decision {
	t.told = true
	until := s.options.Max
	if int(t.next) < len(s.at) {
		until = s.at[t.next]
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
		if t.hold.Free() && len(e.Losses) > 0 { // a stop rule may have ended it at a rung
			s.record(s.reached(e, t), e, t, out)
		}
		s.crowd.End(&t.hold)
	case sdk.TrialFailed, sdk.TrialRemoved:
		s.crowd.End(&t.hold)
	default:
		s.crowd.Observe(e, &t.hold, out)
	}
}

func (s *scheduler) leftBehind(number uint32) string {
	return fmt.Sprintf("not promoted from rung %d, and no trial is left that could change that",
		s.at[s.trials.At(number).next-1])
}
