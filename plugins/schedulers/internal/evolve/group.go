package evolve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A group is a subpopulation; a population that is not divided has a single one.
type group struct {
	population
	index  int
	period uint64 // it evolves at every period-th comparison
}

// group returns the permanent group of a trial: trials are distributed in the order of their
// numbers.
func (s *scheduler) group(number uint32) *group {
	return &s.groups[number%uint32(len(s.groups))]
}

// of names the group, if there are several.
func (s *scheduler) of(g *group) string {
	if len(s.groups) == 1 {
		return ""
	}
	return fmt.Sprintf(" in sub-population %d", g.index+1)
}

// open reports whether the rank is one of those just above the worst k.
func (g *group) open(rank, k int) bool {
	return rank >= max(k, len(g.population)-2*k) && !g.worst(rank, k)
}

// sources returns the trials of other groups from which this one may continue. Open trials take
// turns, the best first: each gets the first remaining migrant that is better. The worst may take
// any better one if their own group has no donors.
func (s *scheduler) sources(number uint32) []uint32 {
	g := s.group(number)
	k, left := g.edge(s.options.Quantile), s.migrants(g)
	for rank, m := range g.population {
		taken := len(left) > 0 && g.open(rank, k) && left[0].loss < m.loss
		switch {
		case m.trial == number && taken:
			return []uint32{left[0].trial}
		case m.trial == number && g.worst(rank, k) && len(s.donors(g, number)) == 0:
			return s.migrants(g).better(m.loss)
		case m.trial == number:
			return nil
		case taken:
			left = left[1:]
		}
	}
	return nil
}

// better returns the trials with a smaller loss.
func (p population) better(loss float64) (all []uint32) {
	for _, m := range p {
		if m.loss < loss {
			all = append(all, m.trial)
		}
	}
	return all
}

// migrants returns the donors of all other groups, the best first.
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

// immigrate returns the point with which the trial continues from one of another group: a slower
// group passes on its parameters; a faster one, which may have been greedy, only the checkpoint.
func (s *scheduler) immigrate(number uint32, t *trial, from uint32, rng *rand.Rand) (space.Point, string) {
	g, donor := s.group(number), s.trials.At(from)
	reason := fmt.Sprintf("%s%s; trial %d in sub-population %d has %s", s.objective.Text(t.loss), s.of(g), from,
		s.group(from).index+1, s.objective.Value(donor.loss))
	best := g.population[0]
	if s.group(from).index > g.index || math.IsInf(best.loss, 1) {
		return donor.point, reason + ", and its parameters are taken too"
	}
	return s.explorer.Adopt(donor.point, s.trials.At(best.trial).point,
		rng), fmt.Sprintf("%s, and the parameters are those of trial %d", reason, best.trial)
}
