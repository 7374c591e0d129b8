package core

import (
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core/stat"
)

func (e *AttemptStarted) apply(m *Machine) {
	if m.current(e.Trial, e.Attempt) {
		t := m.trial(e.Trial)
		t.timed, t.measured = t.timed || e.Told, t.measured || !e.Told
		m.tell(&Observation{Kind: SawStarted, To: ToAll, Trial: e.Trial, Attempt: e.Attempt})
	}
}

// current reports whether the attempt is the running one; events of other attempts are refused.
func (m *Machine) current(no TrialNo, attempt uint32) bool {
	if int(no) >= m.trials.len {
		return false
	}
	t := m.trial(no)
	return t.state == Running && t.attempt == attempt
}

// Takes reports whether a result of the attempt would count if it has the required metrics. Results of
// another attempt do not count, nor those after the one that stopped the trial (B-010), also while the
// stop waits for a checkpoint.
func (m *Machine) Takes(no TrialNo, attempt uint32) bool {
	if !m.current(no, attempt) {
		return false
	}
	l := m.liveOf(no)
	if l.verdict == Stop && m.since(RulesV2) {
		return false
	}
	if _, served := m.reachedStop(no); served {
		return false
	}
	return !l.over && !l.last && l.intent != toStop && l.intent != toFail
}

func (e *ResultReported) apply(m *Machine) {
	if !m.Takes(e.Trial, e.Attempt) {
		m.stopAgain(e)
		m.takeLast(e)
		return
	}
	t, l := m.trial(e.Trial), m.liveOf(e.Trial)
	if e.Iteration == 0 {
		e.Iteration = t.iteration + 1
	}
	if lacking := m.lacking(e.Metrics); lacking >= 0 && m.refuseResult(t, l, e, lacking) {
		return
	}
	m.count(t, l, e)
	m.engine.used(m.engine.find(l.grant.lease))
	again := t.iteration <= t.told
	if !again {
		m.engine.progressed(e.Trial)
	}
	t.told = max(t.told, t.iteration)
	m.checkpointDue(t, l, e)
	stop := m.stopReason(t, e)
	stops := stop.Kind != CauseNone
	m.tellResult(t, l, e, again, stops || e.StopAll != nil)
	switch {
	case e.StopAll != nil:
		m.end(Finished, *e.StopAll)
	case stops:
		m.stopTrial(e.Trial, stop)
	default:
		m.settle(e.Trial)
	}
}

// count adds the result to the trial's iteration, times and statistics.
func (m *Machine) count(t *trial, l *live, e *ResultReported) {
	t.iteration, t.resultAt = e.Iteration, e.Iteration
	t.results++
	l.lastAt = m.now
	l.reported, l.last = true, e.Done
	cells := m.cellsOf(t)
	for _, x := range e.Metrics {
		at := cells.of(x.ID)
		m.addValue(m.cell(at.cell), l.window(at.i), x.Value)
	}
}

// window returns the window of the trial's i-th cell.
func (l *live) window(i int) *stat.Window {
	for len(l.windows) <= i {
		l.windows = append(l.windows, stat.Window{})
	}
	return &l.windows[i]
}

// lacking returns the index of a missing required metric, or -1.
func (m *Machine) lacking(have []Metric) int {
	for i, id := range m.required {
		if !hasMetric(have, id) {
			return i
		}
	}
	return -1
}

func hasMetric(have []Metric, id MetricID) bool {
	for _, x := range have {
		if x.ID == id {
			return id != 0
		}
	}
	return false
}

// refuseResult fails the trial or warns if a required metric is missing (B-014), and reports whether
// the result is refused.
func (m *Machine) refuseResult(t *trial, l *live, e *ResultReported, lacking int) bool {
	r := m.spec.Required[lacking]
	if t.warned && !m.spec.StrictMetrics {
		return false
	}
	why := Cause{Kind: CauseMetricMissing, Iteration: e.Iteration, Metric: r.Metric, By: r.By,
		Text: m.nameList(e.Metrics)}
	if m.spec.StrictMetrics {
		l.cause = why
		m.stopAttempt(e.Trial, toFail, why)
		return true
	}
	t.warned = true
	m.warn(e.Trial, why)
	return false
}

func (m *Machine) nameList(have []Metric) string {
	names := make([]string, 0, len(have))
	for _, x := range have[:min(len(have), 10)] {
		names = append(names, m.MetricName(x.ID))
	}
	if len(have) > 10 {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// stopReason returns the rule that stops the trial with this result, if any (B-018).
func (m *Machine) stopReason(t *trial, e *ResultReported) Cause {
	if why, served := m.reachedStop(e.Trial); served {
		return why
	}
	if m.rerun(e.Trial) {
		return Cause{} // a rule must not stop it at a recorded iteration
	}
	if e.Stop != nil {
		return *e.Stop
	}
	rules := &m.spec.Stop
	if rules.Iteration > 0 && t.iteration >= rules.Iteration {
		return Cause{Kind: CauseIterationReached, Iteration: rules.Iteration}
	}
	for i, r := range rules.Metrics {
		if m.met(r, m.rules[i], e.Metrics) {
			return Cause{Kind: CauseMetricReached, Metric: r.Metric, Value: r.Value}
		}
	}
	if rules.TimeNS > 0 && m.trainingTime(t) >= rules.TimeNS {
		return Cause{Kind: CauseTimeReached}
	}
	return Cause{}
}

func (m *Machine) met(r MetricRule, id MetricID, have []Metric) bool {
	for _, x := range have {
		if x.ID == id && id != 0 {
			return (r.Below && x.Value <= r.Value || !r.Below && x.Value >= r.Value) && !m.isWorst(r.Metric, x.Value)
		}
	}
	return false
}

// isWorst reports whether a value of an objective is infinite: on either side that is worse than all others (B-015).
func (m *Machine) isWorst(metric string, x float64) bool {
	return m.since(RulesV11) && math.IsInf(x, 0) &&
		slices.ContainsFunc(m.spec.Objectives, func(o Objective) bool { return o.Metric == metric })
}

func (m *Machine) trainingTime(t *trial) int64 {
	if t.state == Running && t.live != 0 {
		return t.spent + m.now - m.lives[t.live-1].since
	}
	return t.spent
}

// hears reports whether a plugin is told a result: one that a restarted trial reports again only if the
// plugin has asked for it.
func (m *Machine) hears(who Audience, again bool) bool {
	return !again || m.since(RulesV10) && m.spec.Again&who != 0
}

// tellResult tells the listeners that do not know this iteration yet, or want to know it again (B-061).
// A result with which a rule stops the trial is told as a completion, not for decision (B-019). The
// scheduler is not told a result that is already decided ahead.
func (m *Machine) tellResult(t *trial, l *live, e *ResultReported, again, stopped bool) {
	o := Observation{Kind: SawResult, To: ToReporters, Trial: e.Trial, Attempt: e.Attempt,
		Iteration: t.iteration, Metrics: e.Metrics, Values: e.Values, Again: again, Last: stopped || e.Done}
	if m.asSuggested(e.Trial) && m.hears(ToSearcher, again) {
		o.To |= ToSearcher
	}
	decided := again && m.rerun(e.Trial) // it trains once more up to where it was stopped
	if !stopped && !decided && !e.Done && !m.spec.Quiet && t.iteration >= t.until && m.hears(ToScheduler, again) {
		o.To |= ToScheduler
		o.Due = true
	}
	number := m.tell(&o)
	if !o.Due {
		l.credits++
		return
	}
	l.due = append(l.due, number)
	m.undecided.add(undecided{number: number, trial: e.Trial, attempt: e.Attempt})
	if m.since(RulesV2) && m.spec.RunAhead > 0 && l.intent == noIntent && !m.waitsForSave(l) {
		m.do(RunAhead{e.Trial, e.Attempt})
	}
}
