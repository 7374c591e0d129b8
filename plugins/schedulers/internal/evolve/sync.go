package evolve

import (
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// arrive pauses a trial at the barrier.
func (s *scheduler) arrive(e *sdk.Event, t *trial, out *sdk.Decisions) {
	s.rank(e, t)
	s.furthest = max(s.furthest, e.Iteration)
	s.pause(e, t, wait, fmt.Sprintf("waits at iteration %d with %d of %d trials", s.barrier, s.waiting, max(s.live, s.planned-s.added+s.live)), out)
}

// meet lets all go on when all that live are paused at the barrier: the worst
// from the best.
func (s *scheduler) meet(out *sdk.Decisions) {
	if !s.options.Sync || s.waiting == 0 || s.waiting < s.live || !s.gathered() {
		return
	}
	group := slices.Clone(s.population)
	k := group.edge(s.options.Quantile)
	s.waiting = 0
	s.barrier = max(s.barrier, s.furthest) + s.options.Interval
	losers := map[uint32][]uint32{}
	for rank, m := range group {
		if group.worst(rank, k) {
			losers[m.trial] = s.donors(m.trial)
		}
	}
	for rank, m := range group {
		t := s.trials.At(m.trial)
		if donors, ok := losers[m.trial]; ok && len(donors) > 0 {
			s.exploit(m.trial, t, donors, out)
			continue
		}
		t.hold.Order(sdk.Command{Kind: sdk.Resume, Trial: m.trial, Reason: fmt.Sprintf(
			"%s is number %d of %d", s.objective.Text(m.loss), rank+1, len(group))}, out)
	}
}

// gathered says whether all trials were added.
func (s *scheduler) gathered() bool { return s.searchEnded || s.added >= s.planned }
