package view

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/view/course"
)

// CurvesQuery says which learning curves are wanted.
type CurvesQuery struct {
	// Metric is the metric; "" is the first objective.
	Metric string
	// Where selects trials, as in [Chosen].
	Where string
	// Points is how many points each curve has at most, Trials how many trials there are at most; 0: all.
	Points, Trials int
}

// LearningCurves are the values of a metric in many trials.
type LearningCurves struct {
	Metric string `json:"metric"`
	Mode   string `json:"mode,omitempty"`
	// Total is how many trials have values; if Trials has fewer, those with the best values are among them.
	Total  int             `json:"total"`
	Trials []LearningCurve `json:"trials"`
	// Best are as in [Points]: the best by the objective, whichever metric this is.
	Best []core.TrialNo `json:"best"`
}

// LearningCurve is that of one trial.
type LearningCurve struct {
	Number core.TrialNo `json:"number"`
	Trial  string       `json:"trial"`
	State  string       `json:"state"`
	// WasRunning says that it ran when its host ended, and that no host runs it now.
	WasRunning bool `json:"was_running,omitempty"`
	// Cause is the kind of why it ended, is paused or waits again; Reason is the text for people.
	Cause  string `json:"cause,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Stopped says that it was stopped early: it did not end by itself, nor at the last iteration that it had.
	Stopped    bool     `json:"stopped,omitempty"`
	Iterations []uint64 `json:"iterations"`
	Values     Floats   `json:"values"`
}

// LearningCurves returns the learning curves of many trials.
func (e *Experiment) LearningCurves(q CurvesQuery) (x LearningCurves, err error) {
	wanted, err := e.wantedBy(q.Where)
	if err != nil {
		return x, err
	}
	return x, e.recall(func(s *State, p *Past) error {
		if err := s.checkMetric(q.Metric); err != nil {
			return err
		}
		x = s.learningCurves(p, q, wanted)
		return nil
	})
}

// wantedBy returns the trials for which an expression is true; nil: all.
func (e *Experiment) wantedBy(where string) (map[core.TrialNo]bool, error) {
	if where == "" {
		return nil, nil
	}
	page, err := e.Choose(Chosen{Where: where})
	if err != nil {
		return nil, err
	}
	wanted := make(map[core.TrialNo]bool, len(page.Numbers))
	for _, no := range page.Numbers {
		wanted[no] = true
	}
	return wanted, nil
}

func (s *State) learningCurves(p *Past, q CurvesQuery, wanted map[core.TrialNo]bool) LearningCurves {
	x := LearningCurves{Metric: cmp.Or(q.Metric, s.Objectives()[0].Metric), Best: s.only()}
	o := core.Objective{Metric: x.Metric, Mode: s.modeOf(x.Metric)}
	if s.isObjective(x.Metric) {
		x.Mode = o.Mode.String()
	}
	list := s.withValues(x.Metric, wanted)
	x.Total = len(list)
	some := spread(s.bests(list, o), o.Mode, q.Trials)
	x.Trials = make([]LearningCurve, 0, len(some))
	for _, no := range some {
		x.Trials = append(x.Trials, s.learningCurve(p, no, s.Machine.Metric(x.Metric), q.Points))
	}
	return x
}

// withValues returns the trials that have reported a metric.
func (s *State) withValues(metric string, wanted map[core.TrialNo]bool) (list []core.TrialNo) {
	id := s.Machine.Metric(metric)
	for no := range core.TrialNo(s.Machine.Trials()) {
		if wanted != nil && !wanted[no] {
			continue
		}
		if _, ok := s.Machine.Summary(no, id); ok && id != 0 {
			list = append(list, no)
		}
	}
	return list
}

// valued is a trial with the value by which it is selected.
type valued struct {
	no    core.TrialNo
	value float64
}

// bests returns trials with the values by which [Best] compares them; all runs of a suggestion have the same one.
func (s *State) bests(list []core.TrialNo, o core.Objective) []valued {
	out, values := make([]valued, len(list)), s.values(o, Last)
	for i, no := range list {
		first, _ := s.Machine.Runs(no)
		value, ok := values(first)
		if out[i] = (valued{no, value}); !ok {
			out[i].value = math.NaN()
		}
	}
	return out
}

// spread selects at most so many trials, in the order of their numbers: a quarter are the best, the others are spread
// evenly over all the rest.
func spread(list []valued, mode stat.Mode, most int) (numbers []core.TrialNo) {
	if most > 0 && len(list) > most {
		slices.SortStableFunc(list, func(a, b valued) int { return stat.Compare(a.value, b.value, mode) })
		best := max(most/4, 1)
		rest := list[best:]
		list = list[:best:best]
		slices.SortFunc(rest, byNumber)
		for i := range most - best {
			list = append(list, rest[i*len(rest)/(most-best)])
		}
		slices.SortFunc(list, byNumber)
	}
	for _, x := range list {
		numbers = append(numbers, x.no)
	}
	return numbers
}

func byNumber(a, b valued) int { return cmp.Compare(a.no, b.no) }

// stoppedEarly reports whether a scheduler, a rule, the user or the end of the experiment has ended a trial before its
// own end.
func stoppedEarly(c core.Cause) bool {
	switch c.Kind {
	case core.CauseMetricReached, core.CauseMetricAbove, core.CauseMetricBelow, core.CauseTimeReached,
		core.CauseExpression, core.CausePlateau, core.CauseUser:
		return true
	case core.CauseFailFast, core.CauseFailedBudget, core.CauseTimeBudget, core.CauseBudgetExpression,
		core.CauseBudgetPlateau, core.CausePluginFailed, core.CauseSearcherStuck, core.CauseSchedulerStuck:
		return true
	case core.CauseScheduler:
		return !course.Finished(c.Text)
	}
	return false
}

// isEarly reports whether a trial has run and was ended before its own end.
func isEarly(v *core.View) bool {
	return v.State == core.Terminated && v.Attempt > 0 && stoppedEarly(v.Cause)
}

// StoppedEarly reports whether a trial was ended before its own end.
func StoppedEarly(m *core.Machine, no core.TrialNo) bool { return earlyOf(m, no, 1) > 0 }

func (s *State) learningCurve(p *Past, no core.TrialNo, metric core.MetricID, points int) LearningCurve {
	v := s.Machine.View(no)
	c := LearningCurve{Number: no, Trial: s.id(no), State: v.State.String(), WasRunning: s.wasRunning(v.State),
		Reason: v.Cause.String()}
	if v.Cause.Kind != core.CauseNone {
		c.Cause = v.Cause.Kind.String()
	}
	c.Stopped = isEarly(&v)
	iterations, values := p.Curve(no, metric, nil, nil)
	c.Iterations, c.Values = make([]uint64, 0, len(iterations)), make(Floats, 0, len(values))
	for _, i := range thinned(len(values), points, func(i int) (float64, bool) { return values[i], true }) {
		c.Iterations, c.Values = append(c.Iterations, iterations[i]), append(c.Values, Float(values[i]))
	}
	return c
}

// errOnePoint refuses a curve of one point.
var errOnePoint = errors.New("points: 1: expected 2 or more, or 0 for all")

// Check returns the mistake of a query.
func (q *CurvesQuery) Check() error {
	switch {
	case q.Points == 1:
		return errOnePoint
	case q.Trials < 0 || q.Points < 0:
		return fmt.Errorf("points and trials: expected 0 or more")
	}
	return nil
}
