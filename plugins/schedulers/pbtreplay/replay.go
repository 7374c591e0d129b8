package pbtreplay

import (
	"context"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/hold"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

type scheduler struct {
	space  *space.Space
	policy []entry
	trials table.Table[trial]
}

type trial struct {
	hold  hold.Trial
	told  bool // the host knows the next iteration that needs a decision
	next  int  // the next entry
	at    uint64
	saved uint64
	point space.Point
}

// Decide processes the events one by one; see the rules of the package.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	var out sdk.Decisions
	for i := range events {
		s.apply(&events[i], &out)
	}
	return out, nil
}

func (s *scheduler) apply(e *sdk.Event, out *sdk.Decisions) {
	switch e.Kind {
	case sdk.ExperimentEnded, sdk.SearchEnded:
		return
	case sdk.ResultReported:
		s.result(e, s.trials.At(e.Trial), out)
		return
	}
	t := s.trials.At(e.Trial)
	switch e.Kind {
	case sdk.TrialAdded:
		t.point = e.Point
	case sdk.CheckpointSaved:
		t.saved = e.Iteration
	default:
		t.hold.Observe(e, out)
		s.change(e.Trial, t, out)
	}
}

// result decides a due result; other results continue without an answer.
func (s *scheduler) result(e *sdk.Event, t *trial, out *sdk.Decisions) {
	switch {
	case !t.hold.Free():
	case t.next < len(s.policy) && e.Iteration >= s.policy[t.next].iteration:
		t.hold.Pause()
		t.told, t.at = false, e.Iteration
		out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Pause,
			Reason: fmt.Sprintf("entry %d of the policy: its parameters change", t.next+1)})
	case !t.told:
		t.told = true
		out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Until: s.until(t)})
	}
}

func (s *scheduler) until(t *trial) uint64 {
	if t.next < len(s.policy) {
		return s.policy[t.next].iteration
	}
	return option.MaxInt
}

// change lets a paused trial continue from its own checkpoint with the policy's parameters from
// there on.
func (s *scheduler) change(number uint32, t *trial, out *sdk.Decisions) {
	if !t.hold.Paused() {
		return
	}
	first, point := t.next, t.point
	for ; t.next < len(s.policy) && s.policy[t.next].iteration <= t.at; t.next++ {
		point = s.merge(t.next, point)
	}
	if reason := s.whyUnchanged(t, point, first); reason != "" {
		t.hold.Order(sdk.Command{Kind: sdk.Resume, Trial: number, Reason: reason}, out)
		return
	}
	t.point = point
	t.hold.Order(sdk.Command{Kind: sdk.Exploit, Trial: number, Donor: number, Iteration: t.saved, Point: point,
		Reason: fmt.Sprintf("entry %d of the policy, from iteration %d", t.next, s.policy[t.next-1].iteration)}, out)
}

// merge returns the point with the changes of the entry, or nil.
func (s *scheduler) merge(entry int, point space.Point) space.Point {
	if len(point) != len(s.space.Params) {
		return nil
	}
	return s.space.Complete(s.policy[entry].params, point)
}

// whyUnchanged returns why the trial continues unchanged, or nothing.
func (s *scheduler) whyUnchanged(t *trial, point space.Point, entry int) string {
	switch {
	case t.saved == 0 || point == nil:
		return "it has no checkpoint: it continues unchanged"
	case s.space.Check(point) != nil || !s.space.Holds(point):
		return fmt.Sprintf("its parameters with entry %d of the policy are not a point of the space: "+
			"it continues unchanged", entry+1)
	}
	return ""
}
