package resources

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/each"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/hold"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
)

type scheduler struct {
	options     options
	objective   objective.Objective
	trials      table.Table[trial]
	live        map[uint32]*trial
	planned     int
	added       int
	searchEnded bool
}

type trial struct {
	hold     hold.Trial
	known    bool
	reported bool
	loss     float64 // of its last result
	slots    int     // that it has or requests
	claims   int     // slots for which it is being paused
	next     uint64  // iteration from which it may be changed
}

// Decide processes the events one by one; see the rules of the package.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	return each.Event(events, s.apply)
}

func (s *scheduler) apply(e *sdk.Event, out *sdk.Decisions) {
	switch e.Kind {
	case sdk.ExperimentEnded:
	case sdk.SearchEnded:
		s.searchEnded = true
	case sdk.ResultReported:
		s.result(e, s.trial(e.Trial), out)
	case sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved:
		s.trial(e.Trial).hold.End()
		delete(s.live, e.Trial)
	default:
		t := s.trial(e.Trial)
		t.hold.Observe(e, out)
		s.change(e.Trial, t, out)
	}
}

func (s *scheduler) trial(number uint32) *trial {
	t := s.trials.At(number)
	if !t.known {
		*t = trial{known: true, slots: 1, next: s.options.Interval}
		s.live[number] = t
		s.added++
	}
	return t
}

func (s *scheduler) result(e *sdk.Event, t *trial, out *sdk.Decisions) {
	if !t.hold.Free() {
		return
	}
	t.reported, t.loss = true, s.objective.Loss(e)
	d := sdk.Decision{Event: e.Number}
	if want := s.share(e.Trial, t); e.Iteration >= t.next && s.worth(t, want) {
		d.Verdict, d.Reason = sdk.Pause, s.reason(t, want)
		t.next, t.claims = e.Iteration+s.options.Interval, want
		t.hold.Pause()
	}
	out.Decisions = append(out.Decisions, d)
}

// change gives a paused trial its share, and lets it continue.
func (s *scheduler) change(number uint32, t *trial, out *sdk.Decisions) {
	if t.hold.Free() { // the pause did not happen
		t.claims = 0
	}
	if !t.hold.Paused() {
		return
	}
	t.claims = 0
	want, reason := s.share(number, t), "its share has changed back meanwhile"
	if want != t.slots {
		reason = s.reason(t, want)
		t.slots = want
		out.Commands = append(out.Commands, sdk.Command{Kind: sdk.Resize, Trial: number,
			Resources: s.options.Request.times(want), Reason: reason})
	}
	t.hold.Order(sdk.Command{Kind: sdk.Resume, Trial: number, Reason: reason}, out)
}

// worth reports whether the change is worth a pause.
func (s *scheduler) worth(t *trial, want int) bool {
	return max(want-t.slots, t.slots-want) >= s.options.Step
}

func (s *scheduler) reason(t *trial, want int) string {
	verb := "gets"
	if want < t.slots {
		verb = "keeps"
	}
	return fmt.Sprintf("it %s %d of %d slots instead of %d: %d trials are left", verb, want, s.options.Slots, t.slots,
		len(s.live))
}

// share returns the number of slots that the trial should have.
func (s *scheduler) share(number uint32, t *trial) int {
	switch n := len(s.live); {
	case s.options.Slots == 0 || !s.gathered():
		return t.slots
	case n >= s.options.Slots:
		return 1
	case s.options.Give == best:
		return s.bestShare(number, s.options.Slots-n+1)
	default:
		return s.evenShare(number, s.options.Slots/n, s.options.Slots%n)
	}
}

// gathered reports whether all trials were added.
func (s *scheduler) gathered() bool {
	return s.searchEnded || s.planned > 0 && s.added >= s.planned
}

// evenShare returns one more for as many trials as there are remaining slots.
func (s *scheduler) evenShare(number uint32, each, left int) int {
	for other, t := range s.live {
		if other != number && max(t.slots, t.claims) > each {
			left--
		}
	}
	if left > 0 {
		each++
	}
	return s.cap(each)
}

func (s *scheduler) bestShare(number uint32, all int) int {
	own := s.live[number]
	for other, t := range s.live {
		if t.reported && cmp.Or(cmp.Compare(t.loss, own.loss), cmp.Compare(other, number)) < 0 {
			return 1
		}
	}
	return s.cap(all)
}

func (s *scheduler) cap(n int) int {
	if s.options.Max > 0 {
		return min(n, s.options.Max)
	}
	return n
}
