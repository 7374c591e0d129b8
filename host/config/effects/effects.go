// Package effects warns of settings of the experiment file that turn out to have no effect
// while the experiment runs.
package effects

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/totals"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/nearest"
)

// Effects warns of each setting without effect once, at every verbosity, as soon as that is known, and
// lists all of them for the summary. It implements the engine's Listener.
type Effects struct {
	experiment *config.Experiment
	machine    *core.Machine
	log        *hostlog.Log
	dirOf      func(core.TrialNo) string
	mu         sync.Mutex
	said       []*effect          // under mu: the summary may be written while the loop runs
	perTrial   map[string]*effect // by the topic
	completed  bool               // a trial ended well: what it did not do, others will not do either
	whole      bool               // a trial trained to its end
	paused     bool               // a trial was paused that has no checkpoint
	streak     failureStreak
}

// effect is a warning about a setting. If it applies to several trials, the warning names
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

// New returns Effects of an experiment, which reads machine when it hears of an event. dirOf returns the directory of a
// trial, which messages may name.
func New(e *config.Experiment, machine *core.Machine, log *hostlog.Log, dirOf func(core.TrialNo) string) *Effects {
	return &Effects{experiment: e, machine: machine, log: log, dirOf: dirOf}
}

// sayOf warns about a trial, once for all trials with the same effect.
func (x *Effects) sayOf(no core.TrialNo, key string, text func(trials string) string) {
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

// warn prints a warning with the position of its key.
func (x *Effects) warn(key, format string, args ...any) {
	text := x.experiment.PosOf(key).String() + ": " + fmt.Sprintf(format, args...)
	x.once(text)
}

func (x *Effects) once(text string) {
	if x.log.InsistOnce("effect "+text, text) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.said = append(x.said, &effect{text: func(string) string { return text }})
	}
}

// Notes returns all warnings; none of a nil Effects.
func (x *Effects) Notes() (texts []string) {
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

// Doing implements engine.Listener.
func (*Effects) Doing(core.Action) {}

// Applied implements engine.Listener.
func (x *Effects) Applied(e core.Event) {
	switch e := e.(type) {
	case *core.AttemptStarted:
		x.unsaved()
	case *core.ResultReported:
		x.firstResult(e)
	case *core.AttemptEnded:
		x.ended(e.Trial)
	}
}

// unsaved warns of keys that ask a trainable for checkpoints that cannot save on request.
func (x *Effects) unsaved() {
	if x.machine.Spec().Saves {
		return
	}
	for _, w := range UnaskedCheckpoints(x.experiment) {
		x.once(w.Error())
	}
}

// UnaskedCheckpoints returns a warning for each key that asks for checkpoints, for trainables
// that do not save on request. Commands never do, which is known before they run.
func UnaskedCheckpoints(e *config.Experiment) (list []*config.Error) {
	doubt := func(at config.Pos, format string, args ...any) *config.Error {
		return &config.Error{Pos: at, Msg: fmt.Sprintf(format, args...)}
	}
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

// firstResult warns of a stop rule that the first result meets: the rule of a metric that is
// no objective is met by large values, although the user may have meant small ones.
func (x *Effects) firstResult(e *core.ResultReported) {
	if len(x.experiment.Stop.Metrics) == 0 || x.machine.View(e.Trial).Results != 1 {
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

func (x *Effects) isObjective(metric string) bool {
	return slices.ContainsFunc(x.experiment.Objectives, func(o config.Objective) bool { return o.Metric == metric })
}

// ended looks at what the first trial that ended well did not do.
func (x *Effects) ended(no core.TrialNo) {
	v := x.machine.View(no)
	if v.State.Final() {
		x.failed(no, v)
	}
	saved := x.machine.From(no).ID != 0
	if !x.paused && x.machine.State(no) == core.Paused && !saved && v.Iteration > 0 && !x.machine.Spec().Saves {
		x.paused = true
		x.warn("scheduler", "trial %d is paused and has made no checkpoint, so it will start from the beginning: %s",
			no, x.reportThem())
	}
	x.endedWhole(no, saved)
	x.endedUnsaved(no, v)
	x.endedShort(v)
	if x.completed || x.machine.State(no) != core.Terminated || v.Results == 0 {
		return
	}
	x.completed = true
	x.absentMetrics(no)
}

// endedWhole looks for checkpoints at the first trial that trained to its end: one that was stopped before may have
// had no time for its first.
func (x *Effects) endedWhole(no core.TrialNo, saved bool) {
	v := x.machine.View(no)
	if x.whole || v.State != core.Terminated || v.Results == 0 || !slices.Contains(ownEnds, v.Cause.Kind) {
		return
	}
	x.whole = true
	if !saved && !x.anySaved() {
		x.noCheckpoint(no)
	}
}

// endedUnsaved warns of at_end for a trial whose trainable did not say which result was its last: nobody knew when to
// save.
func (x *Effects) endedUnsaved(no core.TrialNo, v core.View) {
	asked := x.experiment.Checkpoint.AtEnd && x.machine.Spec().Saves
	trained := v.Cause.Kind == core.CauseCompleted && v.Results > 0
	if !asked || !trained || x.machine.From(no).Iteration == v.Iteration {
		return
	}
	x.sayOf(no, "checkpoint.at_end", func(trials string) string {
		return "checkpoint.at_end has made no checkpoint of " + trials +
			": a trainable has to mark its last result as the last (done), or stop.iteration has to end the trial"
	})
}

// endedShort warns of a trial that has completed before the iteration that an earlier attempt had reported: its results
// after that were told, and do not count (B-055).
func (x *Effects) endedShort(v core.View) {
	told := x.machine.Told(v.Number)
	if v.State != core.Terminated || v.Cause.Kind != core.CauseCompleted || v.At >= told {
		return
	}
	x.sayOf(v.Number, "trainable", func(trials string) string {
		return fmt.Sprintf("%s completed in a later attempt at iteration %d, and an earlier attempt had reported "+
			"iteration %d: the last result of the later one counts, and the searcher and the scheduler know those of "+
			"both; a trainable that continues from a checkpoint should train to the same iteration", trials, v.At, told)
	})
}

// ownEnds are the causes of the ends that trials come to without being stopped early.
var ownEnds = []core.CauseKind{core.CauseCompleted, core.CauseIterationReached, core.CauseTimeReached}

// anySaved reports whether a trial has made a checkpoint, under this host or an earlier one.
func (x *Effects) anySaved() bool {
	for no := range core.TrialNo(x.machine.Trials()) {
		if x.machine.From(no).ID != 0 {
			return true
		}
	}
	return false
}

// reportThem says how this trainable makes checkpoints.
func (x *Effects) reportThem() string {
	if t := x.experiment.Trainable; t != nil && t.Plugin != nil {
		return "a trainable reports checkpoints with a result, in Python with tune.report(…, checkpoint=…)"
	}
	return "a program writes checkpoints into TUNEHOST_CHECKPOINT_DIR and reports them with a result"
}

// exploiting are the schedulers that let trials continue from checkpoints of other trials.
var exploiting = []string{"pbt", "pb2", "mf-pbt"}

func (x *Effects) noCheckpoint(no core.TrialNo) {
	c := x.experiment.Checkpoint
	switch {
	case slices.Contains(exploiting, x.experiment.Scheduler.Name):
		x.warn("scheduler", "%s has trials continue from the checkpoints of better ones, and trial %d has made none: "+
			"nothing comes of it; %s",
			x.experiment.Scheduler.Name, no, x.reportThem())
	case c.Keep > 0 || c.Disk > 0 || c.Score != "":
		x.warn("checkpoint", "checkpoint has no effect: trial %d has made none; %s", no, x.reportThem())
	}
}

// absentMetrics warns of rules over metrics that trials do not report.
func (x *Effects) absentMetrics(no core.TrialNo) {
	absent := func(key, metric, what string) {
		if x.lacks(metric) {
			x.warn(key, "%s has no effect: trial %d has reported no %q, but %s%s", what, no, metric,
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

// lacks reports whether neither trials nor the host provide a metric: the host has fields of
// its own, and totals of what trials count.
func (x *Effects) lacks(metric string) bool {
	_, kept := config.StopVars[metric]
	counter, counted := totals.CounterOf(metric)
	return metric != "" && !kept && x.machine.Metric(metric) == 0 && !(counted && x.machine.Metric(counter) != 0)
}

// metrics returns the names of reported metrics, at most a few of them.
func (x *Effects) metrics() (names []string) {
	const few = 10
	for id := 1; id <= min(x.machine.Metrics(), few); id++ {
		names = append(names, x.machine.MetricName(core.MetricID(id)))
	}
	return names
}
