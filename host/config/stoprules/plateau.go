package stoprules

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
)

// level counts how often in a row values were level.
type level struct {
	rule   config.Plateau
	seen   int64
	strike int64
}

// met looks at the current values and reports whether the plateau is reached: after Grace values,
// their standard deviation stayed within the bound more than Patience times.
func (l *level) met(values []float64) bool {
	if l.seen < l.rule.Grace || int64(len(values)) < l.rule.Last || deviation(values) > l.rule.Std {
		l.strike = 0
		return false
	}
	l.strike++
	return l.strike > l.rule.Patience
}

// plateau is the plateau of a trial, over its last values.
type plateau struct {
	level
	last []float64
}

// add adds the trial's next value and reports whether the trial is on its plateau.
func (p *plateau) add(x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return false
	}
	p.seen++
	p.last = append(p.last, x)
	if n := int64(len(p.last)); n > p.rule.Last {
		p.last = p.last[n-p.rule.Last:]
	}
	return p.met(p.last)
}

// bestPlateau is the plateau of an experiment, over the best values of its best trials. Each trial counts
// once, so that one trial that no longer changes does not end the search.
type bestPlateau struct {
	level
	best []peak
}

type peak struct {
	trial core.TrialNo
	value float64
}

// add adds a trial's next value and reports whether the best trials are level.
func (s *bestPlateau) add(no core.TrialNo, x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return false
	}
	s.seen++
	i := slices.IndexFunc(s.best, func(p peak) bool { return p.trial == no })
	switch {
	case i < 0:
		s.best = append(s.best, peak{no, x})
	case s.better(x, s.best[i].value):
		s.best[i].value = x
	}
	slices.SortStableFunc(s.best, func(a, b peak) int {
		switch {
		case s.better(a.value, b.value):
			return -1
		case s.better(b.value, a.value):
			return 1
		}
		return 0
	})
	s.best = s.best[:min(int64(len(s.best)), s.rule.Last)]
	values := make([]float64, len(s.best))
	for i, p := range s.best {
		values[i] = p.value
	}
	return s.met(values)
}

func (s *bestPlateau) better(a, b float64) bool {
	if s.rule.Mode == "max" {
		return a > b
	}
	return a < b
}

// deviation is the standard deviation of finite values. Values so large that their squares overflow are scaled first.
func deviation(list []float64) float64 {
	if d := plainDeviation(list); !math.IsNaN(d) && !math.IsInf(d, 0) {
		return d
	}
	largest, scaled := 0.0, make([]float64, len(list))
	for _, x := range list {
		largest = max(largest, math.Abs(x))
	}
	for i, x := range list {
		scaled[i] = x / largest
	}
	return float64(plainDeviation(scaled) * largest)
}

func plainDeviation(list []float64) float64 {
	var mean float64
	for i, x := range list {
		mean += float64((x - mean) / float64(i+1))
	}
	var sum float64
	for _, x := range list {
		sum += float64((x - mean) * (x - mean))
	}
	return math.Sqrt(sum / float64(len(list)))
}
