package evolve

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// arrive pauses a trial at the barrier.
func (s *scheduler) arrive(e *sdk.Event, t *trial, out *sdk.Decisions) {
	s.rank(e, t)
	s.furthest = max(s.furthest, e.Iteration)
	s.pause(e, t, wait, fmt.Sprintf("waits at iteration %d with %d of %d trials", s.barrier, s.waiting,
		max(s.live, s.planned-s.added+s.live)), out)
}

// continueAll lets all trials continue when all live ones are paused at the barrier: the worst from the
// best.
func (s *scheduler) continueAll(out *sdk.Decisions) {
	if !s.options.Sync || s.waiting == 0 || s.waiting < s.live || !s.gathered() {
		return
	}
	s.waiting = 0
	s.meetings++
	s.barrier = max(s.barrier, s.furthest) + s.options.Interval
	replaced := map[uint32][]uint32{}
	for i := range s.groups {
		s.elect(&s.groups[i], replaced)
	}
	for i := range s.groups {
		s.continueGroup(&s.groups[i], replaced, out)
	}
}

// elect determines the sources for the trials of the group that are replaced at this meeting.
func (s *scheduler) elect(g *group, replaced map[uint32][]uint32) {
	k := g.edge(s.options.Quantile)
	for rank, m := range g.population {
		if s.meetings%g.period != 0 && !math.IsInf(m.loss, 1) {
			continue
		}
		if g.worst(rank, k) {
			replaced[m.trial] = s.donors(g, m.trial)
		}
		if len(replaced[m.trial]) == 0 {
			replaced[m.trial] = s.sources(m.trial)
		}
	}
}

// continueGroup lets the group's trials continue. A source is never replaced itself, so their order does
// not matter.
func (s *scheduler) continueGroup(g *group, replaced map[uint32][]uint32, out *sdk.Decisions) {
	all := slices.Clone(g.population)
	for rank, m := range all {
		t := s.trials.At(m.trial)
		if donors := replaced[m.trial]; len(donors) > 0 {
			s.replace(m.trial, t, donors, out)
			continue
		}
		t.hold.Order(sdk.Command{Kind: sdk.Resume, Trial: m.trial, Reason: fmt.Sprintf(
			"%s is number %d of %d%s", s.objective.Text(m.loss), rank+1, len(all), s.of(g))}, out)
	}
}

// gathered reports whether all trials were added.
func (s *scheduler) gathered() bool { return s.searchEnded || s.added >= s.planned }
