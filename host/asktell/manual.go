package asktell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/compose"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// manual runs the engine for a caller who trains. Events happen only on requests, and everything
// that a request causes happens before it is answered, in one goroutine: first the events in the
// inbox, then the scheduler, then the searcher.
type manual struct {
	*compose.Session
	machine *core.Machine
	ids     map[string]core.TrialNo // of trials that were ever handed out
	hands   map[core.TrialNo]uint32 // the attempts in the caller's hands
	// stops are the trials that must end; the caller is told with its next request
	// about them.
	stops    map[core.TrialNo]bool
	reported map[core.TrialNo]bool // the trials of hands that have reported a result since they were handed out
	given    *core.StartAttempt    // by this request
	wake     int64                 // running time at which to look at the clock; 0: none
	broken   error                 // the record cannot be kept
}

func newManual() *manual {
	return &manual{ids: map[string]core.TrialNo{}, hands: map[core.TrialNo]uint32{}, stops: map[core.TrialNo]bool{},
		reported: map[core.TrialNo]bool{}}
}

// ports puts the caller in the place of trainables and timers.
func (m *manual) ports(s *compose.Session, live engine.Ports) engine.Ports {
	m.Session, m.machine = s, s.Machine
	for no := range core.TrialNo(m.machine.Trials()) {
		if m.machine.View(no).Attempt > 0 {
			m.ids[s.Views.Trials.ID(no)] = no
		}
	}
	live.Executor, live.Timer = m, m
	return live
}

// Do implements engine.Executor: it handles actions on attempts of trials.
func (m *manual) Do(a core.Action) {
	switch a := a.(type) {
	case core.StartAttempt:
		m.begin(a)
	case core.StopAttempt:
		m.stops[a.Trial] = true
	}
}

// Flush implements engine.Executor.
func (*manual) Flush() {}

// Set implements engine.Timer.
func (m *manual) Set(at int64) { m.wake = at }

// begin gives a trial to the caller.
func (m *manual) begin(a core.StartAttempt) {
	m.given, m.hands[a.Trial] = &a, a.Attempt
	delete(m.reported, a.Trial)
	m.ids[m.Views.Trials.ID(a.Trial)] = a.Trial
	if m.Kept() {
		if err := m.Dir.MakeTrialDir(m.Views.Trials.Dir(a.Trial), m.machine.Params(a.Trial)); err != nil {
			m.Log.Warn(m.Views.Trials.Name(a.Trial) + ": its directory cannot be made: " + err.Error())
		}
	}
	m.Inbox().Post(&core.AttemptStarted{Trial: a.Trial, Attempt: a.Attempt, Told: m.Engine().TimeTold()})
}

// runUntilIdle steps the engine until it has nothing to do.
func (m *manual) runUntilIdle(ctx context.Context) error {
	for {
		if err := m.step(); err != nil {
			return err
		}
		if busy := m.Drivers.Consult(ctx); !busy || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// step records and applies the events in the inbox.
func (m *manual) step() error {
	for busy := true; busy && m.broken == nil; {
		busy, m.broken = m.Step()
	}
	if m.broken != nil {
		return &Fatal{Err: m.broken}
	}
	return nil
}

// postAndRun posts events and runs.
func (m *manual) postAndRun(ctx context.Context, events ...core.Event) error {
	m.Inbox().Post(events...)
	return m.runUntilIdle(ctx)
}

// Handle implements Handler.
func (m *manual) Handle(ctx context.Context, r Request) (a Answer, err error) {
	if err = m.check(r); err == nil {
		if err := m.catchUp(ctx, r); err != nil {
			return nil, err
		}
		a, err = m.answer(ctx, r)
	}
	if o, cause := m.machine.Ending(); o == core.Failed {
		why := m.Views.Facts.Named(cause)
		return nil, &Fatal{Err: errors.New(why.String())}
	}
	return a, err
}

// check refuses a request for what is known before it: what is refused changes nothing, and its time does not count.
func (m *manual) check(r Request) error {
	if r.Kind != Report && r.Kind != Tell {
		return nil
	}
	no, err := m.inHand(r.Trial)
	if err == nil && (r.Kind == Report || m.tellsResult(no, r)) {
		err = cmp.Or(m.follows(no, r), m.complete(r.Metrics))
	}
	return err
}

// follows refuses a result of an iteration that the trial has passed since it was handed out. The end of a trial may
// come with its last iteration.
func (m *manual) follows(no core.TrialNo, r Request) error {
	last := m.machine.View(no).Iteration
	if !m.reported[no] || r.Iteration == 0 || r.Iteration > last || r.Kind == Tell && r.Iteration == last {
		return nil
	}
	return fmt.Errorf("iteration %d of %s is not after %d, its last one: count on, or leave iteration out", r.Iteration,
		m.Views.Trials.Name(no), last)
}

// tellsResult reports whether the end of a trial comes with a result that is new.
func (m *manual) tellsResult(no core.TrialNo, r Request) bool {
	return r.Failed == "" && m.isNews(no, r)
}

// catchUp posts the events that come before a request: before the first one the start of the host, and events
// that are due.
func (m *manual) catchUp(ctx context.Context, r Request) error {
	if r.HasTime {
		m.setTime(r.Time)
	}
	if err := m.runUntilIdle(ctx); err != nil {
		return err
	}
	for m.wake > 0 && m.Engine().Time() >= m.wake {
		m.wake = 0
		if err := m.postAndRun(ctx, &core.Ticked{}); err != nil {
			return err
		}
	}
	return nil
}

// setTime sets the caller's time, which never goes back: the wrong order of two requests must not end a session.
func (m *manual) setTime(at int64) {
	now := m.machine.Now()
	if m.Engine().TimeTold() {
		now = m.Engine().Time()
	}
	if at < now {
		m.Log.Once("time goes back", fmt.Sprintf(`"time": %v is before %v, where the time was already: it stays `+
			"there; give times that go on, also in another session; this is reported only once", float64(at)/1e9,
			float64(now)/1e9))
	}
	m.Engine().SetTime(at)
}

func (m *manual) answer(ctx context.Context, r Request) (Answer, error) {
	switch r.Kind {
	case Ask:
		return m.ask(ctx)
	case Report:
		return m.report(ctx, r)
	case Tell:
		return m.tell(ctx, r)
	}
	return m.best(), nil
}

// ask offers to train one more trial, until it is answered. An offer that changes nothing is not recorded: a caller may
// ask again and again.
func (m *manual) ask(ctx context.Context) (Answer, error) {
	m.given = nil
	if o, _ := m.machine.Outcome(); o == 0 {
		if m.machine.OfferIsVain() {
			return Wait, nil
		}
		if err := m.postAndRun(ctx, &core.OfferMade{}); err != nil {
			return nil, err
		}
	}
	if m.given != nil {
		return m.handOut(m.given.Trial), nil
	}
	if o, _ := m.machine.Outcome(); o != 0 {
		return Finished, nil
	}
	return Wait, m.postAndRun(ctx, &core.OfferWithdrawn{})
}

func (m *manual) handOut(no core.TrialNo) Answer {
	v := m.machine.View(no)
	return Trial{ID: m.Views.Trials.ID(no), Number: uint32(no), Params: m.machine.Params(no), ResumeFrom: v.At}
}

// report handles a result and returns the decision.
func (m *manual) report(ctx context.Context, r Request) (Answer, error) {
	no, err := m.inHand(r.Trial)
	if err == nil {
		err = m.complete(r.Metrics)
	}
	if err != nil {
		return nil, err
	}
	m.reported[no] = true
	m.Inbox().PostResult(&inbox.Result{Trial: no, Attempt: m.hands[no],
		Result: sdk.Result{Metrics: r.Metrics, Iteration: r.Iteration}})
	if err := m.runUntilIdle(ctx); err != nil {
		return nil, err
	}
	if !m.stops[no] {
		return Continue, nil
	}
	if err := m.end(ctx, no, ""); err != nil {
		return nil, err
	}
	if m.machine.State(no).Final() {
		return Stop, nil
	}
	return Pause, nil
}

// tell handles a trial's end, with its last result if that is new.
func (m *manual) tell(ctx context.Context, r Request) (Answer, error) {
	no, err := m.inHand(r.Trial)
	if err != nil {
		return nil, err
	}
	news := m.tellsResult(no, r)
	if news {
		if err := m.complete(r.Metrics); err != nil {
			return nil, err
		}
		m.Inbox().PostResult(&inbox.Result{Trial: no, Attempt: m.hands[no],
			Result: sdk.Result{Metrics: r.Metrics, Iteration: r.Iteration, Done: true}})
	}
	before := m.machine.View(no).Results
	if err := m.end(ctx, no, untrusted.Text(r.Failed, untrusted.MaxText)); err != nil {
		return nil, err
	}
	if v := m.machine.View(no); news && v.Results == before {
		return Receipt{Ignored: v.Reason()}, nil
	}
	return Receipt{}, nil
}

// isNews reports whether a last result has metrics that differ from those reported before. A
// trial that has reported before may end without metrics.
func (m *manual) isNews(no core.TrialNo, r Request) bool {
	v := m.machine.View(no)
	if v.Results == 0 || r.Iteration != 0 && r.Iteration != v.Iteration {
		return true
	}
	return slices.ContainsFunc(r.Metrics, func(x sdk.Metric) bool {
		s, ok := m.machine.Summary(no, m.machine.Metric(x.Name))
		return !ok || s.Last != x.Value && (s.Last == s.Last || x.Value == x.Value) // NaN is NaN
	})
}

// end ends an attempt.
func (m *manual) end(ctx context.Context, no core.TrialNo, failed string) error {
	e := &core.AttemptEnded{Trial: no, Attempt: m.hands[no], Cause: core.TrainableFailure(failed)}
	delete(m.hands, no)
	delete(m.stops, no)
	return m.postAndRun(ctx, e)
}

// inHand finds a trial that the caller has.
func (m *manual) inHand(name Name) (core.TrialNo, error) {
	no, ok := m.find(name)
	if !ok {
		return 0, fmt.Errorf("no trial %q was handed out", name.Text)
	}
	if _, ok := m.hands[no]; ok {
		return no, nil
	}
	v := m.machine.View(no)
	switch {
	case v.State.Final():
		return 0, fmt.Errorf("%s has ended: %s", m.Views.Trials.Name(no), v.Cause)
	case v.State == core.Paused:
		return 0, fmt.Errorf("%s is paused: %s; a later ask returns it when it continues", m.Views.Trials.Name(no),
			v.Cause)
	}
	return 0, fmt.Errorf("%s was taken back; a later ask returns it when it continues", m.Views.Trials.Name(no))
}

func (m *manual) find(name Name) (core.TrialNo, bool) {
	if no, ok := m.ids[name.Text]; ok && !name.Number {
		return no, true
	}
	n, err := strconv.ParseUint(name.Text, 10, 32)
	no := core.TrialNo(n)
	return no, err == nil && n < uint64(m.machine.Trials()) && m.machine.View(no).Attempt > 0
}

// complete refuses a result without a metric that the experiment needs. A trainable that omits it
// fails its trial (B-014); a caller can correct itself.
func (m *manual) complete(have []sdk.Metric) error {
	spec := m.machine.Spec()
	for _, r := range spec.Required {
		named := func(x sdk.Metric) bool { return x.Name == r.Metric }
		if spec.StrictMetrics && !slices.ContainsFunc(have, named) {
			return fmt.Errorf("the metric %q is missing, which the %s needs", r.Metric, r.By)
		}
	}
	return nil
}

// best returns the best trial by the first objective's last value, like `tunehost best`.
func (m *manual) best() Answer {
	no, value, ok := view.Best(m.machine, m.machine.Spec().Objectives[0], view.Last)
	if !ok {
		return BestTrial{}
	}
	b := BestTrial{ID: m.Views.Trials.ID(no), Params: m.machine.View(no).Params, Value: value}
	m.machine.EachSummary(no, func(id core.MetricID, s stat.Summary) {
		b.Metrics = append(b.Metrics, sdk.Metric{Name: m.machine.MetricName(id), Value: s.Last})
	})
	return b
}

// close ends the session: trials of the caller continue at their iteration when the experiment is
// resumed, unless they were about to end. Plugins are not called any more.
func (m *manual) close() error {
	if err := m.step(); err != nil {
		return err
	}
	if o, _ := m.machine.Outcome(); o == 0 && !m.machine.Closing() {
		m.Inbox().Post(&core.Interrupted{})
	}
	for _, no := range slices.Sorted(maps.Keys(m.hands)) {
		m.Inbox().Post(&core.AttemptEnded{Trial: no, Attempt: m.hands[no]})
	}
	return m.step()
}
