package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/compose"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/points"
	"github.com/tunehost/tunehost/host/config/request"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/local/offer"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/simulate/curves"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Result is how a simulation ended.
type Result struct {
	Outcome core.Outcome
	Reason  string
	Seed    uint64
	Trials  int
	States  map[core.State]int
	Results uint64
	// Seconds is the virtual time from start to end; Trained the training time of
	// all trials together, and Whole what it would have been had each been
	// trained to its end.
	Seconds, Trained, Whole float64
	// Cut is how many trials came to the end of what was recorded of them, and
	// would have gone on.
	Cut int
	// Untimed is how many curves of the table have no seconds, so that an iteration takes one.
	Untimed int
	// Near is how many trials had no curve of their own, and reported that of recorded trials near them.
	Near int
	// Failure is why the first trial in ERROR failed.
	Failure string
	// Objectives are those of the experiment; Best and Record look at the first.
	Objectives []core.Objective
	// Best is nil when no trial reported a finite value.
	Best  *Best
	Curve []view.Step
	// Record compares it with the record that it was made of; nil if it was made of a table.
	Record *Record
	// Machine is the core at the end: look, and apply nothing.
	Machine *core.Machine
}

// Best is the best trial by its last value of the first objective.
type Best struct {
	Trial  string
	Number core.TrialNo
	Value  float64
	Params []byte
}

// Run runs an experiment file on recorded curves, in virtual time: its own
// searcher and scheduler decide, in the host's own core, and trials report what is in the table as fast as it can be
// read. The same file, seed, table and workers give the same result. workers is how many trials train at a
// time, whatever the file says; 0 takes the file's concurrency and resources, and those of Options.Resources.
// Nothing is written.
func Run(ctx context.Context, o options.Options, load func(*space.Space) (*curves.Table, error), workers int) (Result,
	error) {
	m := newSimulation()
	return m.simulate(ctx, o, func(e *config.Experiment) (*curves.Table, error) { return load(e.Space) }, workers)
}

func (m *simulation) simulate(ctx context.Context, o options.Options,
	load func(*config.Experiment) (*curves.Table, error), workers int) (Result, error) {
	e, err := read(ctx, &o, workers)
	if err != nil {
		return Result{}, err
	}
	o.Await("the recorded curves")
	if m.curves, err = load(e); err != nil {
		return Result{}, usererror.Wrap(err)
	}
	nodes, err := virtualNodes(ctx, e, o.Resources, workers)
	if err != nil {
		return Result{}, err
	}
	s, err := compose.Begin(ctx, &prepare.Plan{Experiment: e}, o,
		compose.How{Ports: m.ports, Points: m.points, Nodes: nodes})
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = s.Close() }()
	m.Engine().SetTime(0)
	m.Join(nodes)
	o.Await("the simulation")
	if err := m.run(ctx); err != nil {
		return Result{}, err
	}
	return m.sum(), nil
}

// read reads the file for a simulation.
func read(ctx context.Context, o *options.Options, workers int) (*config.Experiment, error) {
	o.Mode.InProcess, o.Mode.Virtual, o.Clock = true, true, fixedClock{}
	e, err := prepare.Load(ctx, o)
	if err != nil {
		return nil, err
	}
	e.Trainable = nil
	if workers > 0 {
		e.Resources, e.Placement, e.Concurrency = map[string]string{"cpu": "1"}, nil, 0
	}
	return e, nil
}

// simulation executes trials in virtual time: they report from curves, and plugins
// answer at once. It is one goroutine, in which first all that
// follows from an event is done, then time continues to the next.
type simulation struct {
	*compose.Session
	machine *core.Machine
	points  *points.Memory
	curves  *curves.Table
	record  bool // the curves are those of the trials of a record
	runs    map[core.TrialNo]*runningAttempt
	queue   agenda
	wake    int64
	order   uint64
	last    inbox.Result // the last one that was reported

	results uint64
	// iterations are what the trials have trained.
	iterations uint64
	cut        int
	near       map[core.TrialNo]bool
	trained    map[core.TrialNo]trainedTime
	curve      []view.Step
}

// runningAttempt is a running attempt with its recorded curve.
type runningAttempt struct {
	trial   core.TrialNo
	attempt uint32
	params  []byte
	curve   curves.Course
	// next is the report that comes next, from those of the curve; began the
	// training time of the attempt's beginning, and since the running time.
	next  int
	began float64
	since int64
	// at and order are its place in the agenda.
	at    int64
	order uint64
	ended bool
}

// fixedClock is a clock that stands still: the engine has its own time, and no call is slow.
type fixedClock struct{}

func (fixedClock) Now() time.Time                              { return time.Unix(0, 0) }
func (fixedClock) Since(time.Time) time.Duration               { return 0 }
func (fixedClock) AfterFunc(time.Duration, func()) func() bool { return func() bool { return true } }

// trainedTime is a trial's training time, and what it would be to the end.
type trainedTime struct{ done, whole float64 }

func newSimulation() *simulation {
	return &simulation{points: points.NewMemory(), runs: map[core.TrialNo]*runningAttempt{},
		trained: map[core.TrialNo]trainedTime{}, near: map[core.TrialNo]bool{}}
}

// ports puts recorded curves in the place of trainables. There is nobody to tell, and
// nothing is kept.
func (m *simulation) ports(s *compose.Session, live engine.Ports) engine.Ports {
	m.Session, m.machine = s, s.Machine
	s.History.Reuse() // nobody here keeps an event
	live.Executor, live.Timer, live.Publisher, live.Store, live.Listeners = m, m, &improvements{m}, noStorage{}, nil
	return live
}

// noStorage is the storage of simulated trials, which have no checkpoints.
type noStorage struct{}

// Delete implements engine.Store.
func (noStorage) Delete(core.DeleteCheckpoint) {}

// virtualNodes are the machine that trials run on.
func virtualNodes(ctx context.Context, e *config.Experiment, override string, workers int) ([]resource.Node, error) {
	if workers <= 0 {
		nodes, err := offer.Nodes(ctx, override)
		if err != nil {
			return nil, usererror.Wrap(err)
		}
		short, err := offer.Shortfall(e, nodes)
		switch {
		case err != nil:
			return nil, usererror.Wrap(err)
		case short != nil:
			return nil, offer.TooSmall(e, short)
		}
		return nodes, nil
	}
	capacity, err := request.Bundle(map[string]string{"cpu": fmt.Sprint(workers)})
	return []resource.Node{{ID: 1, Name: "virtual", Capacity: capacity}}, err
}

// run turns until the experiment has ended.
func (m *simulation) run(ctx context.Context) error {
	for {
		if err := m.runInstant(ctx); err != nil {
			return err
		}
		if m.Engine().Finished() {
			return nil
		}
		if err := m.advance(); err != nil {
			return err
		}
	}
}

// runInstant does everything that is due at this instant.
func (m *simulation) runInstant(ctx context.Context) error {
	for !m.Engine().Finished() {
		if err := ctx.Err(); err != nil {
			return err
		}
		busy, err := m.Step()
		if err != nil {
			return err
		}
		if !busy && !m.Drivers.Consult(ctx) {
			return nil
		}
	}
	return nil
}

// advance lets time continue to what happens next.
func (m *simulation) advance() error {
	for len(m.queue) > 0 && m.queue[0].ended {
		m.queue.pop()
	}
	switch {
	case m.wake > 0 && (len(m.queue) == 0 || m.wake <= m.queue[0].at):
		m.Engine().SetTime(m.wake)
		m.wake = 0
		m.Inbox().Post(&core.Ticked{})
	case len(m.queue) > 0:
		r := m.queue.pop()
		m.Engine().SetTime(r.at)
		m.report(r)
	case m.machine.Stuck():
		m.Drivers.Scheduling.CheckStuck()
	default:
		return errors.New("no event is left, but the experiment has not ended: please report this as a bug " +
			"of tunehost")
	}
	return nil
}

// Do implements engine.Executor.
func (m *simulation) Do(a core.Action) {
	switch a := a.(type) {
	case core.StartAttempt:
		m.start(a)
	case core.StopAttempt:
		m.stop(a)
	case core.SaveAttempt:
		m.Inbox().Post(&core.CheckpointSaved{Trial: a.Trial, Attempt: a.Attempt, ID: a.ID, Iteration: a.Iteration})
	}
}

// Flush implements engine.Executor.
func (*simulation) Flush() {}

// Set implements engine.Timer.
func (m *simulation) Set(at int64) { m.wake = at }

// improvements are what a simulation tells: the results that are better than all before.
type improvements struct{ *simulation }

// Hear implements engine.Publisher.
func (m *improvements) Hear(s *history.Step) {
	for o := range s.Observations(core.ToReporters) {
		switch o.Kind {
		case core.SawResult:
			m.improve(o)
		case core.SawCompleted, core.SawFailed, core.SawRemoved:
			m.points.Forget(m.machine.Params(o.Trial))
			delete(m.runs, o.Trial)
		}
	}
}

// Warn implements engine.Publisher.
func (m *improvements) Warn(a core.Warn) { m.Log.Warn(a.Cause.String()) }

// improve notes a result that is better than all before.
func (m *simulation) improve(o core.Observation) {
	m.results++
	objective, id := m.machine.Spec().Objectives[0], m.machine.Objectives()[0]
	for _, x := range o.Metrics {
		better := len(m.curve) == 0 || stat.Better(x.Value, float64(m.curve[max(0, len(m.curve)-1)].Value),
			objective.Mode)
		if x.ID == id && !math.IsNaN(x.Value) && !math.IsInf(x.Value, 0) && better {
			m.curve = append(m.curve, view.Step{Value: view.Float(x.Value), Trial: m.Views.Trials.ID(o.Trial),
				Number:    o.Trial,
				Iteration: o.Iteration, Trials: m.machine.Trials(), Results: m.results,
				Seconds: view.Float(float64(m.machine.Now()) / 1e9)})
		}
	}
}

// start begins an attempt where its checkpoint was made.
func (m *simulation) start(a core.StartAttempt) {
	m.Inbox().Post(&core.AttemptStarted{Trial: a.Trial, Attempt: a.Attempt})
	r := &runningAttempt{trial: a.Trial, attempt: a.Attempt, params: m.machine.Params(a.Trial), since: m.machine.Now()}
	if err := m.findCourse(r); err != nil {
		m.Inbox().Post(&core.AttemptEnded{Trial: a.Trial, Attempt: a.Attempt,
			Cause: core.TrainableFailure(err.Error())})
		return
	}
	for r.next < r.curve.Len() && a.Restore.ID != 0 && r.curve.Iteration(r.next) <= a.Restore.Iteration {
		r.next++
	}
	if r.next > 0 {
		r.began = r.curve.Seconds(r.next - 1)
	}
	m.runs[a.Trial] = r
	m.schedule(r)
}

// findCourse sets what a run will report: that of the trial's run before, unless its parameters have changed.
func (m *simulation) findCourse(r *runningAttempt) error {
	if was := m.runs[r.trial]; was != nil && bytes.Equal(was.params, r.params) {
		r.curve = was.curve
		return nil
	}
	p, err := m.Drivers.Translate.Encode(r.params)
	if err != nil {
		return err
	}
	r.curve = m.course(r.trial, p)
	if !r.curve.Own() {
		m.near[r.trial] = true
	}
	return nil
}

// course is what a trial reports.
func (m *simulation) course(no core.TrialNo, p space.Point) curves.Course {
	if m.record {
		return m.curves.CourseOf(int(no), p)
	}
	return m.curves.Course(p)
}

// schedule plans a run's next report, or its end: after all that its last report
// leads to, at the same instant.
func (m *simulation) schedule(r *runningAttempt) {
	r.at = m.machine.Now()
	if r.next < r.curve.Len() {
		after := r.curve.Seconds(r.next) - r.began
		r.at = max(r.at, r.since+int64(after*1e9))
	}
	m.order++
	r.order = m.order
	m.queue.push(r)
}

// report has a run report, or end.
func (m *simulation) report(r *runningAttempt) {
	if r.next == r.curve.Len() {
		m.end(r)
		return
	}
	k := r.next
	r.next++
	m.iterations += r.curve.Trained(k)
	last := r.next == r.curve.Len() && r.curve.Failed() == "" && !r.curve.Cut()
	metrics := m.last.Metrics[:0] // which the loop has taken
	for i, name := range r.curve.Metrics() {
		if r.curve.Has(k, i) {
			metrics = append(metrics, sdk.Metric{Name: name, Value: r.curve.Value(k, i)})
		}
	}
	m.last = inbox.Result{Trial: r.trial, Attempt: r.attempt,
		Result: sdk.Result{Metrics: metrics, Iteration: r.curve.Iteration(k), Done: last}}
	m.Inbox().PostResult(&m.last)
	m.schedule(r)
}

// end is the end of an attempt that nobody has stopped.
func (m *simulation) end(r *runningAttempt) {
	m.account(r)
	if r.curve.Cut() {
		m.cut++
	}
	m.Inbox().Post(&core.AttemptEnded{Trial: r.trial, Attempt: r.attempt,
		Cause: core.TrainableFailure(r.curve.Failed())})
}

// stop ends an attempt. What it had planned will not happen.
func (m *simulation) stop(a core.StopAttempt) {
	r := m.runs[a.Trial]
	if r == nil || r.attempt != a.Attempt || r.ended {
		return
	}
	if a.SaveID != 0 {
		m.Inbox().Post(&core.CheckpointSaved{Trial: a.Trial, Attempt: a.Attempt, ID: a.SaveID,
			Iteration: m.machine.View(a.Trial).Iteration})
	}
	m.account(r)
	m.Inbox().Post(&core.AttemptEnded{Trial: a.Trial, Attempt: a.Attempt})
}

// account notes how long a run has trained.
func (m *simulation) account(r *runningAttempt) {
	r.ended = true
	t := m.trained[r.trial]
	t.done += float64(m.machine.Now()-r.since) / 1e9
	if n := r.curve.Len(); n > 0 {
		t.whole = max(t.whole, r.curve.Seconds(n-1))
	}
	m.trained[r.trial] = t
}

func (m *simulation) sum() Result {
	o, cause := m.machine.Outcome()
	why := m.Views.Facts.Named(cause)
	s := Result{Outcome: o, Reason: why.String(), Seed: m.File.Seed, Machine: m.machine,
		Objectives: m.machine.Spec().Objectives,
		Trials:     m.machine.Trials(), Results: m.results, Cut: m.cut, Untimed: m.curves.Untimed, Near: len(m.near),
		Curve: m.curve, Seconds: float64(m.machine.Now()) / 1e9, States: map[core.State]int{}}
	for no := range core.TrialNo(m.machine.Trials()) {
		t := m.trained[no]
		s.Trained, s.Whole = s.Trained+t.done, s.Whole+t.whole
		s.States[m.machine.State(no)]++
		if m.machine.State(no) == core.Errored && s.Failure == "" {
			s.Failure = m.Views.Trials.Of(no).Error
		}
	}
	if no, value, ok := view.Best(m.machine, m.machine.Spec().Objectives[0], view.Last); ok {
		s.Best = &Best{Trial: m.Views.Trials.ID(no), Number: no, Value: value, Params: m.machine.View(no).Params}
	}
	return s
}

// agenda is what will happen: the earliest first, of those at one instant what was
// planned first. It is a heap without the calls of container/heap, which each result would need a dozen of.
type agenda []*runningAttempt

func (r *runningAttempt) before(o *runningAttempt) bool {
	return r.at < o.at || r.at == o.at && r.order < o.order
}

func (a *agenda) push(r *runningAttempt) {
	s := append(*a, r)
	i := len(s) - 1
	for i > 0 && r.before(s[(i-1)/2]) {
		s[i], i = s[(i-1)/2], (i-1)/2
	}
	s[i] = r
	*a = s
}

// pop returns the first one; there must be one.
func (a *agenda) pop() *runningAttempt {
	s := *a
	first, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	i := 0
	for c := 1; c < len(s); c = 2*i + 1 {
		if c+1 < len(s) && s[c+1].before(s[c]) {
			c++
		}
		if !s[c].before(last) {
			break
		}
		s[i], i = s[c], c
	}
	if len(s) > 0 {
		s[i] = last
	}
	*a = s
	return first
}
