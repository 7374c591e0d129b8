package view

import (
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/nearest"
)

// Query is a question for the best trial. The zero value asks by the (first)
// objective and each trial's last result.
type Query struct {
	// Metric is the objective's unless set.
	Metric string
	// Mode is min or max; "" is the objective's. For a metric that is none
	// it follows from Scope, or must be set.
	Mode  string
	Scope Scope
}

// Objectives are those of the experiment file.
func (e *Experiment) Objectives() []core.Objective {
	list := make([]core.Objective, len(e.config.Objectives))
	for i, o := range e.config.Objectives {
		list[i].Metric = o.Metric
		if o.Mode == "max" {
			list[i].Mode = stat.Max
		}
	}
	return list
}

// Best is the best trial; ok is false when none has a finite value yet.
func (e *Experiment) Best(q Query) (best Ranked, ok bool, err error) {
	if q.Scope == "" {
		q.Scope = Last
	}
	o, err := e.objective(q)
	if err != nil {
		return Ranked{}, false, err
	}
	no, x, ok := bestOf(e.Machine(), o, q.Scope)
	if !ok {
		return Ranked{}, false, nil
	}
	best = Ranked{Trial: e.Trial(no), Value: x.value, Scope: q.Scope, MeanOf: e.meanOf(no, o)}
	best.Last = best.Iteration
	return best, true, e.place(&best, o.Metric, &x.stretch)
}

// meanOf are the runs of a suggestion whose values make its mean.
func (e *Experiment) meanOf(no core.TrialNo, o core.Objective) (list []core.TrialNo) {
	m := e.Machine()
	first, runs := m.Runs(no)
	for no := first; runs > 1 && no < first+core.TrialNo(runs); no++ {
		if _, reported := m.Summary(no, m.Metric(o.Metric)); reported && m.Counts(no) {
			list = append(list, no)
		}
	}
	return list
}

// Front are the trials of the Pareto front, by number.
func (e *Experiment) Front(s Scope) []Trial {
	if s == "" {
		s = Last
	}
	var list []Trial
	for _, no := range Front(e.Machine(), e.Objectives(), s) {
		list = append(list, e.Trial(no))
	}
	return list
}

func (e *Experiment) objective(q Query) (o core.Objective, err error) {
	if err := e.checkMetric(q.Metric); err != nil {
		return o, err
	}
	objectives := e.Objectives()
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
		err = fmt.Errorf("metric %q is not an objective: say --mode min or --mode max", q.Metric)
	}
	return o, err
}

// checkMetric refuses the name of a metric that nobody has reported, once
// anybody has reported something.
func (e *Experiment) checkMetric(name string) error {
	if name == "" || e.Machine().Metrics() == 0 || e.Machine().Metric(name) != 0 {
		return nil
	}
	if slices.ContainsFunc(e.Objectives(), func(o core.Objective) bool { return o.Metric == name }) {
		return nil
	}
	return fmt.Errorf("no trial has reported a metric %q%s", name, nearest.Hint(name, e.MetricNames()))
}

// MetricNames are those that any trial has reported, sorted.
func (e *Experiment) MetricNames() []string {
	m := e.Machine()
	names := make([]string, 0, m.Metrics())
	for id := 1; id <= m.Metrics(); id++ {
		names = append(names, m.MetricName(core.MetricID(id)))
	}
	slices.Sort(names)
	return names
}
