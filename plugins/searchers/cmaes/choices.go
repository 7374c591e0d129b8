package cmaes

import (
	"math"

	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// learnChoices moves the probabilities towards the categories of the better half of a generation,
// for trials that have the parameter, and keeps a margin for the others (R. Hamano and others,
// CatCMA, 2024).
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
	// choiceRate is the learning rate of the probabilities, firstRate the one at the start.
	choiceRate, firstRate = 0.4, 0.5
)

// keepOdds gives every category a minimum probability, such that a quarter of all points has an
// unlikely category in at least one of n parameters.
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
