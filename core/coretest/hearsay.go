package coretest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
)

// tell follows what plugins are told.
func (a *audit) tell(o core.Observation) error {
	if a.seen++; o.Number != a.seen {
		return fmt.Errorf("it should be number %d", a.seen)
	}
	switch o.Kind {
	case core.SawEnd:
		return nil
	case core.SawSearchEnded:
		return a.tellSearchEnded(o)
	}
	if o.Learned {
		return a.tellLearned(o)
	}
	t := a.trial(o.Trial)
	if t != nil && a.runs() > 1 && (o.Runs > 0) != (o.To&core.ToSearcher != 0) {
		return errors.New("the searcher is told of all runs together only")
	}
	if t != nil && o.Runs > 0 {
		return a.tellTogether(o)
	}
	switch {
	case t == nil:
		return errors.New("it does not exist")
	case t.ends > 0:
		return errors.New("it has ended")
	}
	return a.tellOf(t, o)
}

// tellSearchEnded: only the scheduler is told, once, when it is true.
func (a *audit) tellSearchEnded(o core.Observation) error {
	if o.To != core.ToScheduler || a.searchEnded || !a.searched() {
		return fmt.Errorf("to %d, told %t, true %t", o.To, a.searchEnded, a.searched())
	}
	a.searchEnded = true
	return nil
}

func (a *audit) tellOf(t *account, o core.Observation) error {
	switch o.Kind {
	case core.SawStarted:
		if !t.live || t.attempt != o.Attempt {
			return errors.New("it does not run")
		}
	case core.SawResult:
		return a.tellResult(t, o)
	case core.SawCompleted, core.SawFailed, core.SawRemoved:
		if err := a.mayEnd(t); err != nil && o.Kind != core.SawFailed {
			return err
		}
		t.ends++
		t.orders, t.end, t.orderBook = 0, endings{}, orderBook{}
		maps.DeleteFunc(a.owed, func(number uint64, k attemptKey) bool {
			return k.trial == t.no && !a.m.AwaitsDecision(number)
		})
		if o.To|core.ToSearcher != core.ToAll || o.To != core.ToAll && a.runs() == 1 || t.live {
			return fmt.Errorf("to %d, running %t", o.To, t.live)
		}
	case core.SawPaused:
		t.resized()
		t.front = true // if it is queued immediately
	case core.SawRequeued:
		t.end.cut = false
		t.resized()
		t.ticket, t.front = a.clock, o.Cause.Is(core.CauseInterrupted) || o.Cause.Is(core.CauseLeaseEnding)
		if !t.front && a.spec.Manual {
			t.forget() // it failed, and the caller's state is lost
		}
	}
	return nil
}

// tellLearned: only the searcher is told of a trial of another experiment, first of it, then of its results and of
// its end.
func (a *audit) tellLearned(o core.Observation) error {
	no := ^core.TrialNo(a.learned / 2)
	added := a.learned%2 == 0
	if o.Kind != core.SawResult {
		a.learned++
	}
	if o.To != core.ToSearcher || added != (o.Kind == core.SawAdded) || o.Trial != no || len(a.trials) > 0 {
		return errors.New("that is not how trials of other experiments are told")
	}
	return nil
}

// tellTogether: a suggestion is told once all its runs exist, and its end once each of them has ended,
// with the end of the best of them.
func (a *audit) tellTogether(o core.Observation) error {
	i := int(o.Trial) / a.runs()
	if int(o.Trial)%a.runs() != 0 || int(o.Runs) != a.runs() || o.To != core.ToSearcher {
		return errors.New("that is no suggestion")
	}
	var ended, failed, well int
	for _, t := range a.trials[int(o.Trial) : int(o.Trial)+a.runs()] {
		ended += min(t.ends, 1)
		switch {
		case a.m.State(t.no) == core.Errored:
			failed++
		case a.m.Counts(t.no):
			well++
		}
	}
	want := core.SawRemoved
	switch {
	case o.Kind == core.SawAdded && a.together[i] == -1:
		a.together[i] = 0
		return nil
	case well > 0:
		want = core.SawCompleted
	case failed > 0:
		want = core.SawFailed
	}
	if o.Kind != want || ended != a.runs() || a.together[i] != 0 {
		return fmt.Errorf("%d of its runs have ended, %d of them well; its end was told %d times", ended, well,
			a.together[i])
	}
	a.together[i] = 1
	return nil
}

// forget drops what the trial had reported.
func (t *account) forget() { t.iteration, t.values, t.results = 0, nil, 0 }

// deaf reports whether a plugin must not be told a result: it knows the iteration, and has not asked to hear it again.
func (a *audit) deaf(who core.Audience, again bool) bool {
	return again && (a.spec.Rules < core.RulesV10 || a.spec.Again&who == 0)
}

// tellResult: each result is told once to reporters, each iteration once to the searcher, and a
// decision is owed for what the scheduler is told.
func (a *audit) tellResult(t *account, o core.Observation) error {
	e := t.result
	if e == nil || !t.live || t.attempt != o.Attempt || t.last {
		return errors.New("nothing was reported")
	}
	want := e.Iteration
	if want == 0 {
		want = t.iteration + 1
	}
	if t.end.again && t.iteration >= t.end.at {
		return fmt.Errorf("it was stopped at %d", t.end.at)
	}
	again := want <= t.told
	switch {
	case o.Iteration != want:
		return fmt.Errorf("it is iteration %d", want)
	case o.Again != again,
		a.runs() == 1 && (a.deaf(core.ToSearcher, again) || t.stretch > 0) == (o.To&core.ToSearcher != 0):
		return fmt.Errorf("iteration %d was told, in stretch %d", t.told, t.stretch)
	case o.Due != (o.To&core.ToScheduler != 0) || o.Due && (a.deaf(core.ToScheduler, again) || a.spec.Quiet || e.Done):
		return fmt.Errorf("due is %t", o.Due)
	case o.To&core.ToReporters == 0:
		return errors.New("reporters do not hear of it")
	}
	t.take(e, want)
	if o.Due {
		a.owed[o.Number] = attemptKey{t.no, t.attempt}
	}
	return nil
}

func (t *account) take(e *core.ResultReported, iteration uint64) {
	t.iteration, t.valued, t.told = iteration, iteration, max(t.told, iteration)
	t.results++
	t.accepted++
	t.last, t.end.done = e.Done, e.Done
	for _, x := range e.Metrics {
		if x.ID == 1 {
			t.values = append(t.values, x.Value)
		}
	}
	for _, c := range t.saves {
		if c != nil && c.of == e && c.iteration == iteration {
			c.values, c.results, c.valued, c.of = slices.Clone(t.values), t.results, t.valued, nil
		}
	}
	t.result = nil
}

// compare checks a trial's row against its account.
func (a *audit) compare(e core.Event, t *account) error {
	v := a.m.View(t.no)
	a.timeIsUp(e, t, v)
	if t.result != nil && !t.last && !v.Stopping && !t.judged {
		return errors.New("its result was lost")
	}
	t.refused = t.refused || t.result != nil
	was := core.State(0)
	if int(t.no) < len(a.was) {
		was = a.was[t.no]
	}
	switch {
	case t.live != (v.State == core.Running):
		return fmt.Errorf("it is %s, but running is %t", v.State, t.live)
	case v.State.Final() != (t.ends == 1):
		return fmt.Errorf("it is %s, but its end was told %d times", v.State, t.ends)
	case was == core.Terminated && v.State != was && !unstarted(e):
		return fmt.Errorf("it was TERMINATED and is %s", v.State)
	case v.Attempt != t.attempt:
		return fmt.Errorf("attempt %d, but %d were started", v.Attempt, t.attempt)
	}
	a.queued(e, t, was, v.State)
	if err := a.obeyed(e, t, v); err != nil {
		return err
	}
	if err := t.waiting(a, v); err != nil {
		return err
	}
	return a.numbers(t, v)
}

// unstarted reports that the event runs a trial that had ended before it started.
func unstarted(e core.Event) bool {
	r, ok := e.(*core.TrialReset)
	return ok && r.Unstarted
}

// queued notes since when a trial waits after its pause.
func (a *audit) queued(e core.Event, t *account, was, is core.State) {
	if is != core.Pending || was == core.Pending || t.ticket == a.clock {
		return
	}
	_, user := e.(*core.UnpauseRequested)
	t.ticket, t.front = a.clock, !user
}

// waiting checks that a trainable that may not continue waits for something.
func (t *account) waiting(a *audit, v core.View) error {
	if !t.live || v.Stopping || v.Saving || t.last || t.credits == t.accepted {
		return nil
	}
	open := 0
	for _, k := range a.owed {
		if k == (attemptKey{t.no, t.attempt}) {
			open++
		}
	}
	if t.credits+open != t.accepted {
		return fmt.Errorf("%d results, %d credits, %d decisions owed: it waits for ever", t.accepted, t.credits, open)
	}
	return nil
}

// numbers compares the counts and the summary of the metric "acc".
func (a *audit) numbers(t *account, v core.View) error {
	if t.refused || t.vague || !t.live {
		return nil
	}
	iteration, values := t.iteration, t.values
	if t.results > 0 && a.spec.Rules >= core.RulesV2 {
		iteration = t.valued
	}
	if t.known != nil && t.results == 0 {
		iteration, values = t.known.iteration, t.known.values
	}
	if v.Iteration != iteration || int(v.Results) != t.before+t.results || v.At != t.iteration {
		return fmt.Errorf("iteration %d after %d results, at %d, but it was told as %d after %d, at %d", v.Iteration,
			v.Results, v.At,
			iteration, t.before+t.results, t.iteration)
	}
	s, _ := a.m.Summary(t.no, 1)
	if int(s.Count) != len(values) {
		return fmt.Errorf("%d values are counted, but %d were reported", s.Count, len(values))
	}
	if want := summary(values); s != want && fmt.Sprint(s) != fmt.Sprint(want) {
		return fmt.Errorf("the summary is %+v, but of %v it is %+v", s, values, want)
	}
	return nil
}

// summary returns the summary of consecutive values.
func summary(values []float64) (s stat.Summary) {
	var w stat.Window
	for _, x := range values {
		s.Add(&w, x)
	}
	return s
}
