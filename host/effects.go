package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/totals"
)

// effects says which settings of the file turn out to have none: once each, when that is
// known, and again in the summary.
type effects struct {
	experiment *config.Experiment
	machine    *core.Machine
	log        *hostlog.Log
	mu         sync.Mutex
	said       []*effect          // under mu: the last word may be said while the loop is at work
	perTrial   map[string]*effect // by the topic
	completed  bool               // a trial has ended well: what it has not done, others will not do
	paused     bool               // a trial was paused that has no checkpoint
	streak     streak
}

// effect is what is said of a setting. Where it is true of several trials, the warning names
// the first one, and the summary says how many there are.
type effect struct {
	text   func(trials string) string
	first  core.TrialNo
	trials int
}

func (e *effect) String() string {
	if e.trials > 1 {
		return e.text(fmt.Sprintf("%d trials", e.trials))
	}
	return e.text(fmt.Sprintf("trial %d", e.first))
}

// sayOf warns of a trial, once for all of which the same is true.
func (x *effects) sayOf(no core.TrialNo, key string, text func(trials string) string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.perTrial[key]; e != nil {
		e.trials++
		return
	}
	place := x.experiment.PosOf(key).String() + ": "
	e := &effect{text: func(trials string) string { return place + text(trials) }, first: no, trials: 1}
	if x.perTrial == nil {
		x.perTrial = map[string]*effect{}
	}
	x.perTrial[key] = e
	x.said = append(x.said, e)
	x.log.Warn(e.String())
}

// say warns, with the key that it is about.
func (x *effects) say(key, format string, args ...any) {
	text := x.experiment.PosOf(key).String() + ": " + fmt.Sprintf(format, args...)
	x.once(text)
}

func (x *effects) once(text string) {
	if x.log.Once("effect "+text, text) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.said = append(x.said, &effect{text: func(string) string { return text }})
	}
}

// notes are what was said; of a session that has not begun, nothing.
func (x *effects) notes() (texts []string) {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.said {
		texts = append(texts, e.String())
	}
	return texts
}

// heard looks at what was just applied.
func (x *effects) heard(e core.Event) {
	switch e := e.(type) {
	case *core.AttemptStarted:
		x.unsaved()
	case *core.ResultReported:
		x.firstResult(e)
	case *core.AttemptEnded:
		x.ended(e.Trial)
	}
}

// unsaved: a trainable that cannot save when it is asked makes checkpoints by itself or
// not at all.
func (x *effects) unsaved() {
	if x.machine.Spec().Saves {
		return
	}
	for _, w := range unaskedCheckpoints(x.experiment) {
		x.once(w.Error())
	}
}

// unaskedCheckpoints are keys that ask for checkpoints, which nobody can be asked for
// who does not save. Of a command that is known before it runs.
func unaskedCheckpoints(e *config.Experiment) (list []*config.Error) {
	c, who := e.Checkpoint, "this trainable cannot save when it is asked: leave it out"
	if e.Trainable != nil && e.Trainable.Plugin == nil {
		who = "a program makes checkpoints when it likes, in TUNEHOST_CHECKPOINT_DIR, and reports them: leave it out"
	}
	if c.Every > 0 {
		list = append(list, doubt(e.PosOf("checkpoint.every"), "checkpoint.every has no effect: %s", who))
	}
	if c.AtEnd {
		list = append(list, doubt(e.PosOf("checkpoint.at_end"), "checkpoint.at_end has no effect: %s", who))
	}
	return list
}

// firstResult: a rule on a metric that is no objective is met by large values, also
// where small ones were meant.
func (x *effects) firstResult(e *core.ResultReported) {
	if x.machine.View(e.Trial).Results != 1 {
		return
	}
	for _, r := range x.experiment.Stop.Metrics {
		id := x.machine.Metric(r.Metric)
		i := slices.IndexFunc(e.Metrics, func(m core.Metric) bool { return m.ID == id })
		if r.Reach == nil || i < 0 || x.isObjective(r.Metric) || !(e.Metrics[i].Value >= *r.Reach) {
			continue
		}
		limit := strconv.FormatFloat(*r.Reach, 'g', -1, 64)
		x.sayOf(e.Trial, "stop."+r.Metric, func(trials string) string {
			return fmt.Sprintf("stop: %s was at least %s at the first result of %s, and a trial stops there; "+
				"where less is better write %s: {below: %s}", r.Metric, limit, trials, r.Metric, limit)
		})
	}
}

func (x *effects) isObjective(metric string) bool {
	return slices.ContainsFunc(x.experiment.Objectives, func(o config.Objective) bool { return o.Metric == metric })
}

// ended looks at what the first trial that ended well has not done.
func (x *effects) ended(no core.TrialNo) {
	v := x.machine.View(no)
	if v.State.Final() {
		x.failed(v)
	}
	saved := x.machine.From(no).ID != 0
	if !x.paused && x.machine.State(no) == core.Paused && !saved && v.Iteration > 0 {
		x.paused = true
		x.say("scheduler", "trial %d is paused and has made no checkpoint, so that it will begin anew, as will others: %s", no, reportThem)
	}
	if x.completed || x.machine.State(no) != core.Terminated || v.Results == 0 {
		return
	}
	x.completed = true
	x.absentMetrics(no)
	if !saved {
		x.noCheckpoint(no)
	}
}

const reportThem = "a program writes checkpoints into TUNEHOST_CHECKPOINT_DIR and reports them with a result"

// exploiting are the schedulers that have trials go on from others' checkpoints.
var exploiting = []string{"pbt", "pb2", "mf-pbt"}

func (x *effects) noCheckpoint(no core.TrialNo) {
	c := x.experiment.Checkpoint
	switch {
	case slices.Contains(exploiting, x.experiment.Scheduler.Name):
		x.say("scheduler", "%s has trials go on from the checkpoints of better ones, and trial %d has made none: nothing comes of it; %s",
			x.experiment.Scheduler.Name, no, reportThem)
	case c.Keep > 0 || c.Disk > 0 || c.Score != "":
		x.say("checkpoint", "checkpoint has no effect: trial %d has made none; %s", no, reportThem)
	}
}

// absentMetrics: a rule over a metric that never comes is never met.
func (x *effects) absentMetrics(no core.TrialNo) {
	absent := func(key, metric, what string) {
		if x.lacks(metric) {
			x.say(key, "%s has no effect: trial %d has reported no %q, but %s%s", what, no, metric,
				strings.Join(x.metrics(), ", "), nearest.Hint(metric, x.metrics()))
		}
	}
	if when := x.experiment.Stop.When; when != nil {
		for _, name := range when.Metrics() {
			absent("stop.when", name, "what "+strconv.Quote(name)+" decides in stop.when")
		}
	}
	for _, r := range x.experiment.Stop.Metrics {
		absent("stop."+r.Metric, r.Metric, "stop."+r.Metric)
	}
	if p := x.experiment.Stop.Plateau; p != nil {
		absent("stop.plateau", p.Metric, "stop.plateau")
	}
	if p := x.experiment.Budget.Plateau; p != nil {
		absent("budget.plateau", p.Metric, "budget.plateau")
	}
	absent("checkpoint.score", x.experiment.Checkpoint.Score, "checkpoint.score")
}

// lacks says whether neither trials nor the host have a metric: the host has its own
// fields, and totals of what trials count.
func (x *effects) lacks(metric string) bool {
	_, kept := config.StopVars[metric]
	counter, counted := totals.CounterOf(metric)
	return metric != "" && !kept && x.machine.Metric(metric) == 0 && !(counted && x.machine.Metric(counter) != 0)
}

// metrics are the names of all that was reported, a few of them.
func (x *effects) metrics() (names []string) {
	const few = 10
	for id := 1; id <= min(x.machine.Metrics(), few); id++ {
		names = append(names, x.machine.MetricName(core.MetricID(id)))
	}
	return names
}
