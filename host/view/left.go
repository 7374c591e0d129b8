package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
)

const (
	// samplesKept is how many of the newest trials that have ended by themselves say how long a trial takes;
	// samplesSeen is how many trials are looked at to find them.
	samplesKept = 200
	samplesSeen = 2000
)

// byThemselves are the causes of ends that say how long a trial takes: no user and no failure cut it short.
var byThemselves = []core.CauseKind{core.CauseCompleted, core.CauseMetricReached, core.CauseMetricAbove,
	core.CauseMetricBelow, core.CauseIterationReached, core.CauseTimeReached, core.CauseExpression, core.CausePlateau,
	core.CauseScheduler}

// Left is how long a running experiment will still take.
type Left struct {
	// Expected says that the experiment will end by itself, so that there is something to estimate.
	Expected bool
	// Known says that there is an estimate: Seconds.
	Known   bool
	Seconds float64

	work work
	at   time.Duration
}

// after returns the estimate at a running time, if nothing has happened since it was made.
func (l Left) after(elapsed time.Duration) Left {
	if l.Known {
		l.Seconds = l.work.left(max(elapsed-l.at, 0).Seconds())
	}
	return l
}

// String is the estimate for people; "" if there is nothing to estimate.
func (l Left) String() string {
	switch {
	case !l.Expected:
		return ""
	case !l.Known:
		return "time left not known yet"
	}
	return roughly(l.Seconds) + " left"
}

func (l Left) orNull() *float64 {
	if !l.Known {
		return nil
	}
	return &l.Seconds
}

const secondsPerYear = 365 * 86400

// roughly writes an estimated duration in seconds.
func roughly(seconds float64) string {
	if seconds > secondsPerYear {
		return "more than a year"
	}
	s := int64(seconds)
	switch {
	case s < 60:
		return "less than a minute"
	case s < 3600:
		return fmt.Sprintf("about %dm", (s+30)/60)
	case s < 86400:
		return fmt.Sprintf("about %dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("about %dd%02dh", s/86400, s/3600%24)
}

// lefts collects what the estimate depends on.
type lefts struct {
	s       *State
	samples []core.View
	begun   []core.View
	// took is how many seconds a trial takes, pace how many an iteration takes; 0: not known.
	took, pace float64
}

// timeLeft estimates how long the experiment still runs, as of its last event.
func (s *State) timeLeft(x *Status) Left {
	m := s.Machine
	fresh := int64(m.Count(core.Pending))
	if !x.Exhausted {
		fresh += max(x.Planned, x.Made) - x.Made
	}
	if x.State != Running || x.Ending != "" || x.Waiting != "" || x.Paused || x.Planned < 0 ||
		fresh+int64(m.Count(core.Running)+m.Count(core.Paused)) == 0 {
		return Left{}
	}
	l := &lefts{s: s}
	l.collect()
	l.measure()
	out := Left{Expected: true, at: time.Duration(m.Now())}
	if l.took == 0 || m.Count(core.Running) == 0 && x.Leases != nil && x.Leases.Awaited(false) != "" {
		return out // no history says how long a cluster takes
	}
	out.Known = true
	out.work = work{each: l.took, slots: l.slots()}
	for _, v := range l.begun {
		switch {
		case v.State == core.Running:
			out.work.running = append(out.work.running, l.leftOf(v))
		case v.State == core.Pending:
			fresh--
			out.work.waiting = append(out.work.waiting, l.leftOf(v).left)
		case !v.Held:
			out.work.waiting = append(out.work.waiting, l.leftOf(v).left)
		}
	}
	out.work.fresh = fresh
	if x.Budget > 0 {
		out.work.limit = max((x.Budget - x.Elapsed + x.Uncounted).Seconds(), 1e-9)
	}
	return out.after(x.Elapsed)
}

// collect finds the newest trials that have ended by themselves, and all that have begun and not ended.
func (l *lefts) collect() {
	m := l.s.Machine
	active := m.Count(core.Running) + m.Count(core.Pending) + m.Count(core.Paused)
	seen := 0
	for no := m.Trials() - 1; no >= 0 && (active > 0 || seen < samplesSeen && len(l.samples) < samplesKept); no-- {
		state := m.State(core.TrialNo(no))
		switch {
		case state == core.Terminated && seen < samplesSeen && len(l.samples) < samplesKept:
			seen++
			v := m.View(core.TrialNo(no))
			if v.TrainNS > 0 && !v.NeverStarted && slices.Contains(byThemselves, v.Cause.Kind) {
				l.samples = append(l.samples, v)
			}
		case !state.Final():
			active--
			if v := m.View(core.TrialNo(no)); v.Attempt > 0 {
				l.begun = append(l.begun, v)
			}
		}
	}
}

// measure finds how long a trial takes: as long as those that have ended by themselves, or as the file's limits let
// the running ones train.
func (l *lefts) measure() {
	stop := l.s.Machine.Spec().Stop
	spent, iterations := 0.0, 0.0
	from := l.samples
	if len(from) == 0 {
		from = l.begun
	}
	for _, v := range from {
		if reported := l.reported(v); v.Iteration > 0 && reported > 0 {
			spent += reported
			iterations += float64(v.Iteration)
		}
	}
	if iterations > 0 {
		l.pace = spent / iterations
	}
	switch {
	case len(l.samples) > 0:
		l.took = l.mean()
		return
	case stop.Iteration > 0 && l.pace > 0:
		l.took = l.pace * float64(stop.Iteration)
	}
	if limit := float64(stop.TimeNS) / 1e9; limit > 0 && (l.took == 0 || l.took > limit) {
		l.took = limit
	}
}

// mean returns how long a trial trains: as long as those that have ended, and those that have trained for longer than
// these on average. Where a scheduler stops trials early, the short ones end first.
func (l *lefts) mean() float64 {
	sum, n := 0.0, 0.0
	for _, v := range l.samples {
		sum += float64(v.TrainNS) / 1e9
		n++
	}
	ended := sum / n
	for _, v := range l.begun {
		if trained := l.trained(v); v.State == core.Running && trained > ended {
			sum += trained
			n++
		}
	}
	return sum / n
}

// reported returns how long a trial had trained at its last result, as trained counts.
func (l *lefts) reported(v core.View) float64 {
	if at := l.s.resultAt; int(v.Number) < len(at) && at[v.Number] > 0 && at[v.Number]-1 <= v.TrainNS {
		return max(float64(at[v.Number]-1-l.lost(v))/1e9, 0)
	}
	return l.trained(v)
}

// trained returns how long a trial has trained for what it has now.
func (l *lefts) trained(v core.View) float64 { return float64(v.TrainNS-l.lost(v)) / 1e9 }

// lost is the training time of the attempts of a trial that has begun anew since, or will: it has no checkpoint.
func (l *lefts) lost(v core.View) int64 {
	m := l.s.Machine
	from := m.From(v.Number)
	if v.State.Final() || m.Spec().Manual || from.ID != 0 && from.Trial != core.NoTrial {
		return 0
	}
	return m.SpentNS(v.Number)
}

// leftOf returns what is left of a trial that has begun: of its iterations at its own pace if their number is known,
// else of the time that a trial takes.
func (l *lefts) leftOf(v core.View) begunTrial {
	trained := l.trained(v)
	t := begunTrial{left: max(l.took-trained, 0)}
	if end := l.lastIteration(v.Iteration); end > 0 && v.Iteration > 0 && l.reported(v) > 0 {
		pace := l.reported(v) / float64(v.Iteration)
		t.least = max(pace*(end-float64(v.Iteration)-1), 0)
		t.left = max(pace*(end-float64(v.Iteration))-(trained-l.reported(v)), t.least)
	} else if end > 0 && l.pace > 0 {
		t.least = l.pace * max(end-1, 0)
		t.left = max(t.left, t.least)
	}
	if limit := l.s.Machine.Spec().Stop.TimeNS; limit > 0 {
		t.left = min(t.left, max(float64(limit-v.TrainNS)/1e9, 0))
		t.least = min(t.least, t.left)
	}
	return t
}

// lastIteration returns how many iterations a trial makes that has made so many: as many as those on average that have
// ended by themselves later than that, or those that the file allows; 0: not known.
func (l *lefts) lastIteration(now uint64) float64 {
	sum, n := 0.0, 0.0
	for _, v := range l.samples {
		if v.Iteration > now {
			sum += float64(v.Iteration)
			n++
		}
	}
	if n > 0 {
		return sum / n
	}
	return float64(l.s.Machine.Spec().Stop.Iteration)
}

// slots returns how many trials train at a time: as many as now, or as trained at the last end of one, whose place
// may not be taken yet.
func (l *lefts) slots() int {
	running, before := 0, 0
	var last int64
	for _, v := range l.samples {
		last = max(last, v.Ended)
	}
	for _, v := range l.begun {
		if v.State == core.Running {
			running++
			if v.Started < last {
				before++
			}
		}
	}
	for _, v := range l.samples {
		if v.Started < last && v.Ended == last {
			before++
		}
	}
	n := max(running, before, 1)
	if limit := int(l.s.Machine.Spec().Concurrency); limit > 0 {
		n = min(n, limit)
	}
	return max(n, running)
}
