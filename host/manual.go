package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/asktell"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/telling"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// manual turns the loop for a caller who trains. Nothing happens but on requests,
// and all of what a request leads to happens before it is answered, in one
// goroutine: first what is in the inbox, then the scheduler, then the searcher.
type manual struct {
	*session
	ids   map[string]core.TrialNo // of trials that were ever handed out
	hands map[core.TrialNo]uint32 // the attempts in the caller's hands
	// stops are those of them that are to end; the caller hears of it when it
	// next speaks of them.
	stops  map[core.TrialNo]bool
	given  *core.StartAttempt // by this request
	wake   int64              // running time at which to look at the clock; 0: none
	broken error              // the record cannot be kept
}

func newManual() *manual {
	return &manual{ids: map[string]core.TrialNo{}, hands: map[core.TrialNo]uint32{}, stops: map[core.TrialNo]bool{}}
}

// ports puts the caller in the place of trainables, and its requests in that of timers.
func (m *manual) ports(s *session, live engine.Ports) engine.Ports {
	m.session = s
	for no := range core.TrialNo(s.machine.Trials()) {
		if s.machine.View(no).Attempt > 0 {
			m.ids[s.trials.id(no)] = no
		}
	}
	live.Executor, live.Timer = m, m
	return live
}

// publishAll tells reporters, where something is kept.
func (m *manual) publishAll() {
	var reporters []*telling.Teller
	if m.lock != nil {
		reporters = m.reporters()
	}
	m.publish(reporters)
}

// Do implements engine.Executor: it takes the actions that are about trials' attempts.
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

// begin hands a trial out.
func (m *manual) begin(a core.StartAttempt) {
	m.given, m.hands[a.Trial] = &a, a.Attempt
	m.ids[m.trials.id(a.Trial)] = a.Trial
	if m.lock != nil {
		if err := m.dir.MakeTrialDir(m.trials.Dir(a.Trial), m.machine.Params(a.Trial)); err != nil {
			m.log.Warn(m.trials.name(a.Trial) + ": its directory cannot be made: " + err.Error())
		}
	}
	m.inbox.Post(&core.AttemptStarted{Trial: a.Trial, Attempt: a.Attempt})
}

// turn goes on until nothing is left to do.
func (m *manual) turn(ctx context.Context) error {
	for {
		if err := m.step(); err != nil {
			return err
		}
		if busy := m.consult(ctx); !busy || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// step records and applies what is in the inbox.
func (m *manual) step() error {
	for busy := true; busy && m.broken == nil; {
		busy, m.broken = m.session.step()
	}
	if m.broken != nil {
		return &asktell.Fatal{Err: m.broken}
	}
	return nil
}

// happen is turn after events.
func (m *manual) happen(ctx context.Context, events ...core.Event) error {
	m.inbox.Post(events...)
	return m.turn(ctx)
}

// Handle implements asktell.Handler.
func (m *manual) Handle(ctx context.Context, r asktell.Request) (asktell.Answer, error) {
	if err := m.catchUp(ctx, r); err != nil {
		return nil, err
	}
	a, err := m.answer(ctx, r)
	if o, why := m.machine.Ending(); o == core.Failed {
		return nil, &asktell.Fatal{Err: errors.New(why.String())}
	}
	return a, err
}

// catchUp does what is to be done before the request: the host's start, before
// the first of all, and what time has brought.
func (m *manual) catchUp(ctx context.Context, r asktell.Request) error {
	if r.HasTime {
		m.engine.SetTime(r.Time)
	}
	if err := m.turn(ctx); err != nil {
		return err
	}
	for m.wake > 0 && m.engine.Time() >= m.wake {
		m.wake = 0
		if err := m.happen(ctx, &core.Ticked{}); err != nil {
			return err
		}
	}
	return nil
}

func (m *manual) answer(ctx context.Context, r asktell.Request) (asktell.Answer, error) {
	switch r.Kind {
	case asktell.Ask:
		return m.ask(ctx)
	case asktell.Report:
		return m.report(ctx, r)
	case asktell.Tell:
		return m.tell(ctx, r)
	}
	return m.best(), nil
}

// ask offers to train one more trial, for as long as the answer takes.
func (m *manual) ask(ctx context.Context) (asktell.Answer, error) {
	m.given = nil
	if o, _ := m.machine.Outcome(); o == 0 {
		if err := m.happen(ctx, &core.OfferMade{}); err != nil {
			return nil, err
		}
	}
	if m.given != nil {
		return m.handOut(m.given.Trial), nil
	}
	if o, _ := m.machine.Outcome(); o != 0 {
		return asktell.Finished, nil
	}
	return asktell.Wait, m.happen(ctx, &core.OfferWithdrawn{})
}

func (m *manual) handOut(no core.TrialNo) asktell.Answer {
	v := m.machine.View(no)
	return asktell.Trial{ID: m.trials.id(no), Number: uint32(no), Params: m.machine.Params(no), ResumeFrom: v.At}
}

// report takes a result and says what becomes of the trial.
func (m *manual) report(ctx context.Context, r asktell.Request) (asktell.Answer, error) {
	no, err := m.inHand(r.Trial)
	if err == nil {
		err = m.complete(r.Metrics)
	}
	if err != nil {
		return nil, err
	}
	m.inbox.PostResult(&inbox.Result{Trial: no, Attempt: m.hands[no], Result: sdk.Result{Metrics: r.Metrics, Iteration: r.Iteration}})
	if err := m.turn(ctx); err != nil {
		return nil, err
	}
	if !m.stops[no] {
		return asktell.Continue, nil
	}
	if err := m.end(ctx, no, ""); err != nil {
		return nil, err
	}
	if m.machine.State(no).Final() {
		return asktell.Stop, nil
	}
	return asktell.Pause, nil
}

// tell takes a trial's end, with its last result where that is news.
func (m *manual) tell(ctx context.Context, r asktell.Request) (asktell.Answer, error) {
	no, err := m.inHand(r.Trial)
	if err != nil {
		return nil, err
	}
	news := r.Failed == "" && m.isNews(no, r)
	if news {
		if err := m.complete(r.Metrics); err != nil {
			return nil, err
		}
		m.inbox.PostResult(&inbox.Result{Trial: no, Attempt: m.hands[no], Result: sdk.Result{Metrics: r.Metrics, Iteration: r.Iteration, Done: true}})
	}
	before := m.machine.View(no).Results
	if err := m.end(ctx, no, untrusted.Text(r.Failed, untrusted.MaxText)); err != nil {
		return nil, err
	}
	if v := m.machine.View(no); news && v.Results == before {
		return asktell.Told{Ignored: v.Reason()}, nil
	}
	return asktell.Told{}, nil
}

// isNews says whether a last result has metrics that were not reported with the
// last one. A trial may end without any where it has reported before.
func (m *manual) isNews(no core.TrialNo, r asktell.Request) bool {
	v := m.machine.View(no)
	if v.Results == 0 || r.Iteration != 0 && r.Iteration != v.Iteration {
		return true
	}
	return slices.ContainsFunc(r.Metrics, func(x sdk.Metric) bool {
		s, ok := m.machine.Summary(no, m.machine.Metric(x.Name))
		return !ok || s.Last != x.Value && (s.Last == s.Last || x.Value == x.Value) // NaN is NaN
	})
}

// end is the end of an attempt.
func (m *manual) end(ctx context.Context, no core.TrialNo, failed string) error {
	e := &core.AttemptEnded{Trial: no, Attempt: m.hands[no], Cause: core.TrainableFailure(failed)}
	delete(m.hands, no)
	delete(m.stops, no)
	return m.happen(ctx, e)
}

// inHand finds a trial that the caller has.
func (m *manual) inHand(name asktell.Name) (core.TrialNo, error) {
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
		return 0, fmt.Errorf("%s has ended: %s", m.trials.name(no), v.Cause)
	case v.State == core.Paused:
		return 0, fmt.Errorf("%s is paused: %s; an ask is answered with it when it goes on", m.trials.name(no), v.Cause)
	}
	return 0, fmt.Errorf("%s was taken back; an ask is answered with it when it goes on", m.trials.name(no))
}

func (m *manual) find(name asktell.Name) (core.TrialNo, bool) {
	if no, ok := m.ids[name.Text]; ok && !name.Number {
		return no, true
	}
	n, err := strconv.ParseUint(name.Text, 10, 32)
	no := core.TrialNo(n)
	return no, err == nil && n < uint64(m.machine.Trials()) && m.machine.View(no).Attempt > 0
}

// complete says which metric the experiment cannot do without. A trainable that
// left it out would fail its trial (B-014); a caller can correct itself.
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

// best is by the first objective's last value, as `tunehost best` has it.
func (m *manual) best() asktell.Answer {
	no, _, ok := view.Best(m.machine, m.machine.Spec().Objectives[0], view.Last)
	if !ok {
		return asktell.BestTrial{}
	}
	b := asktell.BestTrial{ID: m.trials.id(no), Params: m.machine.View(no).Params}
	m.machine.EachSummary(no, func(id core.MetricID, s stat.Summary) {
		b.Metrics = append(b.Metrics, sdk.Metric{Name: m.machine.MetricName(id), Value: s.Last})
	})
	return b
}

// leave ends the session: what the caller has goes on at its iteration when the
// experiment does, unless it was to end. Plugins are not asked any more.
func (m *manual) leave() error {
	if err := m.step(); err != nil {
		return err
	}
	if o, _ := m.machine.Outcome(); o == 0 && !m.machine.Closing() {
		m.inbox.Post(&core.Interrupted{})
	}
	for _, no := range slices.Sorted(maps.Keys(m.hands)) {
		m.inbox.Post(&core.AttemptEnded{Trial: no, Attempt: m.hands[no]})
	}
	return m.step()
}
