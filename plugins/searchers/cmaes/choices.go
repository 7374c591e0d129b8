package cmaes

import (
	"math"

	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// learnChoices moves the odds towards the categories of the better half of a
// generation, as far as they have the parameter, and keeps a margin for the others
// (R. Hamano and others, CatCMA, 2024).
func (s *strategy) learnChoices(steps []step, weights []float64, rate float64) {
	for j, i := range s.choices {
		odds := s.odds[j]
		seen, moved := 0.0, make([]float64, len(odds))
		for k, t := range steps {
			if w := weights[k]; w > 0 && !math.IsNaN(t.at[i]) {
				seen += w
				moved[int(t.at[i])] += w
			}
		}
		for c := range odds {
			odds[c] += float64(rate * (moved[c] - float64(seen*odds[c])))
		}
		s.keepOdds(odds)
	}
}

const (
	// choiceRate is how far the odds go in a generation, firstRate how far they go
	// at the beginning.
	choiceRate, firstRate = 0.4, 0.5
)

// keepOdds gives every category so much that in a quarter of all points one
// parameter or another, of n, has one that is not likely.
func (s *strategy) keepOdds(odds []float64) {
	least := 1 - portable.Exp(portable.Log(0.73)/float64(len(s.choices)))
	least /= float64(len(odds) - 1)
	least = math.Min(least, 0.5/float64(len(odds)))
	sum, free := 0.0, 0.0
	for c := range odds {
		odds[c] = math.Max(odds[c], least)
		sum += odds[c]
		free += odds[c] - least
	}
	for c := range odds {
		if free > 0 {
			odds[c] -= (sum - 1) * (odds[c] - least) / free
		}
	}
}
