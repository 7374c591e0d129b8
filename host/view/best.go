package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/nearest"
)

// Query asks for the best trial. The zero value asks by the (first) objective and each trial's last
// result.
type Query struct {
	// Metric is the metric to compare; by default the objective's.
	Metric string
	// Mode is min or max; "" is the objective's. For a metric that is not an objective it follows from
	// Scope, or must be set.
	Mode  string
	Scope Scope
}

// Best returns the best trial; ok is false if none has a finite value yet.
func (e *Experiment) Best(q Query) (best Ranked, ok bool, err error) {
	var o core.Objective
	var stretch core.Stretch
	var made []checkpoint
	var lacks bool
	failed := e.source.Look(func(s *State) {
		if o, err = s.objective(q.settled()); err != nil {
			return
		}
		if best, stretch, ok = s.best(o, q.settled().Scope); ok {
			made, lacks = s.checkpoints(best.Number, &stretch), s.lacks(best.Number, o.Metric)
		}
	})
	if err = errors.Join(failed, err); err != nil || !ok {
		return Ranked{}, false, err
	}
	if lacks && best.Scope == Last && best.MeanOf == nil {
		if err := e.placeLast(&best, o.Metric, &stretch); err != nil {
			return Ranked{}, false, err
		}
	}
	return best, true, e.place(&best, o.Metric, &stretch, made)
}

// settled fills in the scope that the query means.
func (q Query) settled() Query {
	q.Scope = cmp.Or(q.Scope, Last)
	return q
}

func (s *State) best(o core.Objective, scope Scope) (best Ranked, stretch core.Stretch, ok bool) {
	no, x, ok := s.leader(o, scope)
	if !ok {
		return Ranked{}, stretch, false
	}
	best = Ranked{Trial: s.Trial(no), Value: x.value, Scope: scope, MeanOf: s.meanOf(no, o),
		Saves: s.Machine.HadCheckpoint(no)}
	best.Last = best.Iteration
	best.Params, best.Iteration = x.stretch.Params, x.stretch.Iteration
	return best, x.stretch, true
}

// leader is bestOf, without a look at all trials where that is known.
func (s *State) leader(o core.Objective, scope Scope) (no core.TrialNo, x measured, ok bool) {
	if scope != Last || o != s.Objectives()[0] {
		return bestOf(s.Machine, o, scope)
	}
	best := s.standing.find(s.Machine, o)
	return best.no, best.measured, best.ok
}

// only returns the trials of the best value by the only objective; none if there are several.
func (s *State) only() []core.TrialNo {
	if len(s.Objectives()) > 1 {
		return []core.TrialNo{}
	}
	return s.bestRuns(s.Objectives()[0], Last)
}

// bestRuns returns the trials whose value is the best: one, the runs of a suggestion, or none.
func (s *State) bestRuns(o core.Objective, scope Scope) []core.TrialNo {
	no, _, ok := s.leader(o, scope)
	if !ok {
		return []core.TrialNo{}
	}
	if runs := s.meanOf(no, o); len(runs) > 0 {
		return runs
	}
	return []core.TrialNo{no}
}

// meanOf returns the runs of a suggestion whose values make its mean.
func (s *State) meanOf(no core.TrialNo, o core.Objective) (list []core.TrialNo) {
	m := s.Machine
	first, runs := m.Runs(no)
	for no := first; runs > 1 && no < first+core.TrialNo(runs); no++ {
		if _, reported := m.Summary(no, m.Metric(o.Metric)); reported && m.Counts(no) {
			list = append(list, no)
		}
	}
	return list
}

// Front returns the trials of the Pareto front, by number. The metrics of the objectives are the values that
// were compared: the last result may lack one, and another scope has others.
func (e *Experiment) Front(scope Scope) (list []Trial, err error) {
	all, err := e.candidates(e.Objectives(), cmp.Or(scope, Last))
	if err != nil {
		return nil, err
	}
	front := frontOf(all)
	err = e.source.Look(func(s *State) { list = s.compared(front, s.Objectives()) })
	return list, err
}

// Means returns the suggestions with several runs whose means of the last values are known, by number: each as its
// first run that counts, with the means as its metrics of these objectives.
func (e *Experiment) Means(of ...core.Objective) (list []Trial, err error) {
	all, err := e.candidates(of, Last)
	if err != nil {
		return nil, err
	}
	err = e.source.Look(func(s *State) { list = s.compared(all, of) })
	return list, err
}

// Front returns the Pareto front of the last values, as [Experiment.Front] does.
func (s *State) Front() []Trial {
	return s.compared(front(s.Machine, s.Objectives(), Last), s.Objectives())
}

// compared returns trials with the values that were compared as their metrics of objectives.
func (s *State) compared(all []candidate, objectives []core.Objective) []Trial {
	list := make([]Trial, 0, len(all))
	for _, c := range all {
		t := s.Trial(c.no)
		for i, o := range objectives {
			t.Metrics = withMetric(t.Metrics, Metric{o.Metric, c.value(i, o.Mode)})
		}
		list = append(list, t)
	}
	return list
}

// withMetric returns a list by name in which a metric has this value.
func withMetric(list []Metric, x Metric) []Metric {
	list = slices.Clone(list)
	i, found := slices.BinarySearchFunc(list, x, byName)
	if !found {
		list = slices.Insert(list, i, x)
	}
	list[i] = x
	return list
}

func (e *Experiment) candidates(o []core.Objective, scope Scope) (list []candidate, err error) {
	err = e.pieces(func(s *State, from, to core.TrialNo) {
		list = append(list, candidates(s.Machine, o, scope, from, to)...)
	})
	return list, err
}

func (s *State) objective(q Query) (o core.Objective, err error) {
	if err := s.checkMetric(q.Metric); err != nil {
		return o, err
	}
	objectives := s.Objectives()
	i := slices.IndexFunc(objectives, func(o core.Objective) bool { return q.Metric == "" || o.Metric == q.Metric })
	if i >= 0 {
		o = objectives[i]
	} else {
		o.Metric = q.Metric
	}
	switch {
	case q.Mode != "":
		o.Mode, err = stat.ParseMode(q.Mode)
	case i >= 0 || q.Scope == Min:
	case q.Scope == Max:
		o.Mode = stat.Max
	default:
		err = fmt.Errorf("metric %s is not an objective: use --mode min or --mode max", expr.Quote(q.Metric))
	}
	return o, err
}

// checkMetric refuses the name of a metric that no trial has reported, once any trial has reported
// something.
func (s *State) checkMetric(name string) error {
	if name == "" || s.Machine.Metrics() == 0 || s.Machine.Metric(name) != 0 || s.isObjective(name) {
		return nil
	}
	return fmt.Errorf("no trial has reported a metric %s%s", expr.Quote(name), nearest.Hint(name, s.MetricNames()))
}
