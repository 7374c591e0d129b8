package pbtreplay

import (
	"context"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/hold"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

type scheduler struct {
	space       *space.Space
	policy      []entry
	pairs       table.Table[pair]
	waiting     []uint32 // pairs whose second trial was not there when it was needed
	planned     int
	added       int
	searchEnded bool
}

// pair is one training: two trials that take turns.
type pair struct {
	trials [2]trial
	turn   int // which of them trains
	next   int // the entry that comes
	broken bool
	waits  bool // for its second trial to be added
}

type trial struct {
	hold  hold.Trial
	known bool
	told  bool // the host knows until when it need not ask
	saved uint64
	point space.Point
}

// Decide follows the events one by one; see the package's rules.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	var out sdk.Decisions
	for i := range events {
		switch e := &events[i]; e.Kind {
		case sdk.ExperimentEnded:
		case sdk.SearchEnded:
			s.searchEnded = true
		default:
			s.apply(e, &out)
		}
		s.giveUp(&out)
	}
	return out, nil
}

func (s *scheduler) apply(e *sdk.Event, out *sdk.Decisions) {
	p := s.pairs.At(e.Trial / 2)
	t := &p.trials[e.Trial%2]
	if !t.known {
		t.known = true
		s.added++
	}
	switch e.Kind {
	case sdk.ResultReported:
		s.result(e, p, t, out)
	case sdk.TrialAdded:
		t.point = e.Point
	case sdk.CheckpointSaved:
		t.saved = e.Iteration
	case sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved:
		t.hold.End()
		s.leave(e.Trial, p, fmt.Sprintf("trial %d has ended: it goes on as it is", e.Trial), out)
	default:
		t.hold.Observe(e, out)
		s.pass(e.Trial/2, p, out)
	}
}

// result decides a result that is due: others go on and are not answered.
func (s *scheduler) result(e *sdk.Event, p *pair, t *trial, out *sdk.Decisions) {
	over := p.broken || p.next == len(s.policy) // it trains on as it is
	reason, doomed := t.hold.Doomed()
	switch {
	case doomed:
		s.stop(e, reason, out)
	case !t.hold.Free():
	case p.broken && int(e.Trial%2) != p.turn:
		t.hold.End()
		s.stop(e, alone(e.Trial^1), out)
	case !over && int(e.Trial%2) != p.turn:
		s.pause(e, t, fmt.Sprintf("waits to go on from trial %d at iteration %d", e.Trial^1, s.policy[p.next].iteration), out)
	case !over && e.Iteration >= s.policy[p.next].iteration:
		s.pause(e, t, fmt.Sprintf("entry %d of the policy: trial %d goes on with other parameters", p.next+1, e.Trial^1), out)
	case !t.told:
		t.told = true
		until := uint64(maxIterations)
		if !over {
			until = s.policy[p.next].iteration
		}
		out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Until: until})
	}
}

func (s *scheduler) stop(e *sdk.Event, reason string, out *sdk.Decisions) {
	out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: reason})
}

func alone(other uint32) string {
	return fmt.Sprintf("trial %d, from which it would have gone on, has ended or goes on without it", other)
}

func (s *scheduler) pause(e *sdk.Event, t *trial, reason string, out *sdk.Decisions) {
	t.hold.Pause()
	t.told = false
	out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Pause, Reason: reason})
}

// pass lets the other trial go on once both are paused.
func (s *scheduler) pass(number uint32, p *pair, out *sdk.Decisions) {
	from, to := &p.trials[p.turn], &p.trials[1-p.turn]
	donor, other := 2*number+uint32(p.turn), 2*number+uint32(1-p.turn)
	switch {
	case p.broken:
		s.leave(donor, p, "it takes no more turns: it goes on as it is", out)
	case !from.hold.Paused():
	case from.saved == 0 || len(from.point) != len(s.space.Params):
		s.leave(donor, p, "it has no checkpoint to go on from: it goes on as it is", out)
	case to.hold.Paused():
		s.exploit(donor, other, p, out)
	case !to.known && !p.waits:
		p.waits = true
		s.waiting = append(s.waiting, number)
	}
}

func (s *scheduler) exploit(donor, other uint32, p *pair, out *sdk.Decisions) {
	from, to := &p.trials[p.turn], &p.trials[1-p.turn]
	reason := fmt.Sprintf("entry %d of the policy, from iteration %d", p.next+1, s.policy[p.next].iteration)
	point := s.space.Complete(s.policy[p.next].params, from.point)
	if err := s.space.Check(point); err != nil || !s.space.Holds(point) {
		s.leave(donor, p, fmt.Sprintf("entry %d of the policy makes no point of the space of what trial %d has: it goes on as it is", p.next+1, donor), out)
		return
	}
	to.point, to.saved = point, 0
	to.hold.Order(sdk.Command{Kind: sdk.Exploit, Trial: other, Donor: donor, Iteration: from.saved, Point: point, Reason: reason}, out)
	p.turn = 1 - p.turn
	if p.next++; p.next == len(s.policy) {
		from.hold.Order(sdk.Command{Kind: sdk.StopTrial, Trial: donor,
			Reason: fmt.Sprintf("trial %d trains on with the last of the policy", other)}, out)
	}
}

// leave ends the turns: the one that trains goes on as it is, and the other is stopped.
func (s *scheduler) leave(trains uint32, p *pair, reason string, out *sdk.Decisions) {
	if p.next == len(s.policy) {
		return // no turns are left
	}
	p.broken = true
	for k := range p.trials {
		c := sdk.Command{Kind: sdk.Resume, Trial: trains&^1 + uint32(k), Reason: reason}
		if k != p.turn {
			c.Kind, c.Reason = sdk.StopTrial, alone(c.Trial^1)
		}
		if t := &p.trials[k]; t.hold.Held() {
			t.hold.Order(c, out)
		}
	}
}

// giveUp resumes trials whose second will not come.
func (s *scheduler) giveUp(out *sdk.Decisions) {
	if len(s.waiting) == 0 || !s.searchEnded && (s.planned == 0 || s.added < s.planned) {
		return
	}
	for _, number := range s.waiting {
		if p := s.pairs.At(number); !p.trials[1-p.turn].known {
			s.leave(2*number, p, "there is no second trial to take turns with: it goes on as it is", out)
		}
	}
	s.waiting = nil
}
