package cmaes

import (
	"math"

	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// keepMargin ensures that integers, ordinals and steps can change: each side of the mean's value
// keeps a minimum probability (R. Hamano and others, CMA-ES with Margin, 2022). It changes the mean
// and the width of such a dimension.
func (s *strategy) keepMargin() {
	least := 1 / float64((len(s.numbers)+len(s.choices))*s.size)
	for j := range s.mean {
		if s.axis(j).Step == 0 {
			continue
		}
		low, high := s.axis(j).Cell(s.mean[j])
		width := s.sigma * math.Sqrt(s.covariance[j][j])
		switch {
		case math.IsInf(low, -1) && math.IsInf(high, 1):
		case math.IsInf(low, -1):
			s.mean[j] = math.Max(s.mean[j], high+float64(width*portable.Quantile(least)))
		case math.IsInf(high, 1):
			s.mean[j] = math.Min(s.mean[j], low-float64(width*portable.Quantile(least)))
		default:
			s.widen(j, low, high, width, least/2)
		}
	}
}

// widen gives both sides of a cell at least the probability least.
func (s *strategy) widen(j int, low, high, width, least float64) {
	below := portable.CDF((low - s.mean[j]) / width)
	above := portable.CDF((s.mean[j] - high) / width)
	if below >= least && above >= least {
		return
	}
	a := -portable.Quantile(math.Max(below, least))
	b := -portable.Quantile(math.Max(above, least))
	s.mean[j] = (float64(low*b) + float64(high*a)) / (a + b)
	s.stretch(j, (high-low)/(a+b)/width)
}

// stretch multiplies the width of dimension j.
func (s *strategy) stretch(j int, factor float64) {
	times(s.covariance[j][:j+1], factor)
	for i := j; i < len(s.covariance); i++ {
		s.covariance[i][j] *= factor
	}
	times(s.root[j][:j+1], factor)
	s.center[j] *= factor
}
