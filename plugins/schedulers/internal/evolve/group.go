package evolve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// group is a sub-population; one that is not divided has a single one.
type group struct {
	population
	index  int
	period uint64 // it evolves at each so-many-th comparison
}

// group is the trial's, for good: they are dealt out in the order of their numbers.
func (s *scheduler) group(number uint32) *group {
	return &s.groups[int(number)%len(s.groups)]
}

// of names the group, if there are several.
func (s *scheduler) of(g *group) string {
	if len(s.groups) == 1 {
		return ""
	}
	return fmt.Sprintf(" in sub-population %d", g.index+1)
}

// open says whether the member of the rank may be replaced by one of another group:
// those just above the worst k are, and the worst when nobody of their own can.
func (s *scheduler) open(g *group, rank, k int) bool {
	if g.worst(rank, k) {
		return len(s.donors(g, g.population[rank].trial)) == 0
	}
	return rank >= max(k, len(g.population)-2*k)
}

// migrant is the trial of another group that replaces this one, if any does. Those of
// its group that are open take turns from the best on, and the first of the migrants
// that are left goes to who is worse than it.
func (s *scheduler) migrant(number uint32) []uint32 {
	if len(s.groups) == 1 {
		return nil
	}
	g := s.group(number)
	k, left := g.edge(s.options.Quantile), s.migrants(g)
	for rank, m := range g.population {
		taken := len(left) > 0 && s.open(g, rank, k) && left[0].loss < m.loss
		switch {
		case m.trial == number && taken:
			return []uint32{left[0].trial}
		case m.trial == number:
			return nil
		case taken:
			left = left[1:]
		}
	}
	return nil
}

// migrants are the donors of all other groups, the best first.
func (s *scheduler) migrants(to *group) (all population) {
	for i := range s.groups {
		if i == to.index {
			continue
		}
		for _, number := range s.donors(&s.groups[i], math.MaxUint32) {
			all = append(all, member{s.trials.At(number).loss, number})
		}
	}
	slices.SortFunc(all, compare)
	return all
}

// immigrate is the point with which the trial goes on from one of another group: all
// that a slower group has found, but of a faster one, which may have been greedy, only
// the checkpoint.
func (s *scheduler) immigrate(number uint32, t *trial, from uint32, rng *rand.Rand) (space.Point, string) {
	g, donor := s.group(number), s.trials.At(from)
	reason := fmt.Sprintf("%s%s; trial %d in sub-population %d has %s", s.objective.Text(t.loss), s.of(g), from, s.group(from).index+1, s.objective.Value(donor.loss))
	best := g.population[0]
	if s.group(from).index > g.index || math.IsInf(best.loss, 1) {
		return donor.point, reason + ", and its parameters are taken too"
	}
	return s.explorer.Adopt(donor.point, s.trials.At(best.trial).point, rng), fmt.Sprintf("%s, and the parameters are those of trial %d", reason, best.trial)
}
