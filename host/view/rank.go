package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/nearest"
)

// Scope says which of a trial's values of a metric counts.
type Scope string

// Scopes (B-017).
const (
	Last Scope = "last"
	Min  Scope = "min"
	Max  Scope = "max"
	Mean Scope = "mean"
	// Mean5 and Mean10 are over the last 5 and 10 values.
	Mean5  Scope = "mean5"
	Mean10 Scope = "mean10"
	// All is the best value of all.
	All Scope = "all"
)

var scopes = []string{string(Last), string(Min), string(Max), string(Mean), string(All), string(Mean5), string(Mean10)}

// ParseScope reads a scope's name; "" is last.
func ParseScope(text string) (Scope, error) {
	if text == "" {
		return Last, nil
	}
	if !slices.Contains(scopes, text) {
		return "", fmt.Errorf("scope %s is unknown; use last, min, max, mean, mean5, mean10 or all%s", expr.Quote(text),
			nearest.Hint(text, scopes))
	}
	return Scope(text), nil
}

// of returns the value that counts; mode is for All.
func (s Scope) of(x stat.Summary, mode stat.Mode) float64 {
	switch {
	case s == Min, s == All && mode == stat.Min:
		return x.Min
	case s == Max, s == All && mode == stat.Max:
		return x.Max
	case s == Mean:
		return x.Mean
	case s == Mean5:
		return x.Mean5
	case s == Mean10:
		return x.Mean10
	}
	return x.Last
}

// Best returns the trial with the best value of a metric, among all with a finite one; of equal ones
// the first. ok is false if there is none. If suggestions have several runs, it returns the first run
// that counts of the one with the best mean (B-105).
func Best(m *core.Machine, o core.Objective, s Scope) (no core.TrialNo, value float64, ok bool) {
	no, x, ok := bestOf(m, o, s)
	return no, x.value, ok
}

func bestOf(m *core.Machine, o core.Objective, s Scope) (no core.TrialNo, top measured, ok bool) {
	if m.Metric(o.Metric) == 0 {
		return 0, top, false
	}
	_, runs := m.Runs(0)
	for i := 0; i < m.Trials(); i += runs {
		first := core.TrialNo(i)
		x, reported := s.measured(m, first, runs, o)
		if reported && finite(x.value) && (!ok || stat.Better(x.value, top.value, o.Mode)) {
			no, top, ok = x.no, x, true
		}
	}
	return no, top, ok
}

// measured is a value of a trial, and the part of its training in which it was measured (B-154). Of a mean it is the
// first run that counts.
type measured struct {
	no      core.TrialNo
	value   float64
	stretch core.Stretch
}

// measured returns the value of a suggestion: of its only run so far, or, once all of its several runs
// have ended, the mean over those that count.
func (s Scope) measured(m *core.Machine, first core.TrialNo, runs int, o core.Objective) (x measured, ok bool) {
	if runs == 1 {
		return s.ofTrial(m, first, o)
	}
	if x.no, x.value, ok = s.mean(m, first, runs, o); ok {
		x.stretch, _ = m.Suggested(x.no)
	}
	return x, ok
}

// ofTrial returns the value of a trial: the last value or a mean is over its last stretch, the least
// or largest over all stretches.
func (s Scope) ofTrial(m *core.Machine, no core.TrialNo, o core.Objective) (x measured, ok bool) {
	if s != Min && s != Max && s != All {
		last := m.LastStretch(no)
		sum, reported := m.SummaryIn(&last, m.Metric(o.Metric))
		return measured{no, s.of(sum, o.Mode), last}, reported
	}
	list := m.Stretches(no)
	mode := o.Mode
	if s == Min || s == Max {
		mode = map[Scope]stat.Mode{Min: stat.Min, Max: stat.Max}[s]
	}
	for i := range list {
		sum, reported := m.SummaryIn(&list[i], m.Metric(o.Metric))
		if v := s.of(sum, o.Mode); reported && (!ok || stat.Better(v, x.value, mode)) {
			x, ok = measured{no, v, list[i]}, true
		}
	}
	return x, ok
}

// mean returns the mean over the runs of a suggestion that count, as far as they did what was suggested, and the first
// of these runs.
func (s Scope) mean(m *core.Machine, first core.TrialNo, runs int, o core.Objective) (
	no core.TrialNo, value float64, ok bool,
) {
	id := m.Metric(o.Metric)
	var values []float64
	for run := first; run < first+core.TrialNo(runs); run++ {
		if !m.State(run).Final() {
			return 0, 0, false
		}
		stretch, _ := m.Suggested(run)
		if x, reported := m.SummaryIn(&stretch, id); reported && m.Counts(run) {
			if values = append(values, s.of(x, o.Mode)); len(values) == 1 {
				no = run
			}
		}
	}
	return no, stat.Average(values), len(values) > 0
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// front returns the trials that no other trial beats, by number: the Pareto front. A trial without a
// finite value of each objective is not among them. Several runs of a suggestion count as in [Best].
func front(m *core.Machine, objectives []core.Objective, s Scope) []candidate {
	return frontOf(candidates(m, objectives, s, 0, core.TrialNo(m.Trials())))
}

func frontOf(all []candidate) (front []candidate) {
	slices.SortFunc(all, func(a, b candidate) int { return slices.Compare(a.losses, b.losses) })
	for _, c := range all { // later candidates do not beat earlier ones
		if !slices.ContainsFunc(front, func(f candidate) bool { return f.beats(c) }) {
			front = append(front, c)
		}
	}
	slices.SortFunc(front, func(a, b candidate) int { return cmp.Compare(a.no, b.no) })
	return front
}

// candidate is a trial with a loss for each objective: smaller is better. Of several runs it is the first that counts.
type candidate struct {
	no     core.TrialNo
	losses []float64
	params []byte // the parameters of the last of them
}

// candidates returns those among the trials from one up to another.
func candidates(m *core.Machine, objectives []core.Objective, s Scope, from, to core.TrialNo) (list []candidate) {
	for no := from; no < to; no++ {
		first, runs := m.Runs(no)
		if no != first {
			continue
		}
		c := candidate{no: first, losses: make([]float64, 0, len(objectives))}
		for _, o := range objectives {
			x, reported := s.measured(m, first, runs, o)
			if !reported || !finite(x.value) {
				break
			}
			v := x.value
			if len(c.losses) == 0 {
				c.no = x.no
			}
			c.params = x.stretch.Params
			if o.Mode == stat.Max {
				v = -v
			}
			c.losses = append(c.losses, v)
		}
		if len(c.losses) == len(objectives) {
			list = append(list, c)
		}
	}
	return list
}

// value returns the value of the objective i, which has this mode.
func (c candidate) value(i int, mode stat.Mode) float64 {
	if mode == stat.Max {
		return -c.losses[i]
	}
	return c.losses[i]
}

// beats reports that c is nowhere worse than d, and somewhere better.
func (c candidate) beats(d candidate) bool {
	better := false
	for i := range c.losses {
		if c.losses[i] > d.losses[i] {
			return false
		}
		better = better || c.losses[i] < d.losses[i]
	}
	return better
}
