package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/consulting"
	"github.com/tunehost/tunehost/host/demand"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/points"
	"github.com/tunehost/tunehost/host/snapshots"
	"github.com/tunehost/tunehost/host/spec"
	"github.com/tunehost/tunehost/host/telling"
	"github.com/tunehost/tunehost/host/translation"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// first is what this host begins with: its start, settings that are not in the
// record yet, trials to be run again, the user's points in a new experiment, and
// its nodes.
func (s *session) first() ([]core.Event, error) {
	nodes, err := s.nodes()
	if err != nil {
		return nil, err
	}
	spec, err := s.spec()
	if err != nil {
		return nil, err
	}
	points, err := s.points()
	if err != nil {
		return nil, err
	}
	again, err := s.resets()
	if err != nil {
		return nil, err
	}
	var events []core.Event
	if !s.begun {
		events = append(events, &core.ExperimentStarted{Spec: spec})
	}
	events = append(events, s.learnings()...)
	events = append(events, s.hostStarted())
	switch {
	case !s.begun:
	case !sameSpec(spec, *s.machine.Spec()):
		// The record says what holds: a host may have died between taking a
		// change and recording it.
		events = append(events, &core.SettingsChanged{Spec: spec})
	}
	return slices.Concat(events, again, points, nodes), nil
}

func (s *session) hostStarted() *core.HostStarted {
	e := &core.HostStarted{Wall: s.clock.Now().UnixNano()}
	if s.rig != nil {
		e.PID, e.Host, e.Boot = s.rig.PID, "rig", s.rig.Boot
	} else {
		e.PID, e.Host, e.Boot = uint32(os.Getpid()), hostname(), local.Boot()
	}
	return e
}

// start makes the engine, and posts what this host begins with.
func (s *session) start(first []core.Event) {
	s.compose()
	s.inbox.Post(first...)
}

// sameSpec compares what is recorded of settings.
func sameSpec(a, b core.Spec) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// nodes are what this machine offers (B-035: checked before anything starts).
func (s *session) nodes() (events []core.Event, err error) {
	if s.rig != nil {
		return joined(s.rig.Nodes), nil
	}
	if s.experiment.Trainable == nil {
		return nil, nil
	}
	nodes, err := s.offered()
	if err != nil {
		return nil, err
	}
	short, err := shortfall(s.experiment, nodes)
	switch {
	case err != nil:
		return nil, err
	case short != nil && !s.experiment.WaitForResources:
		return nil, tooSmall(s.experiment, short)
	case short != nil:
		s.log.Warn("no trial can start until there is more: " + short.Error())
	}
	if s.requesting == nil {
		s.warnOfIdleGPUs(nodes)
	}
	return joined(nodes), nil
}

// offered are the nodes of this machine, looked for once.
func (s *session) offered() ([]resource.Node, error) {
	if s.found != nil {
		return s.found, nil
	}
	m, err := lookAtMachine(s.options.opening, s.options.Resources)
	if err != nil {
		return nil, &UserError{err}
	}
	if m.warning != "" {
		s.log.Warn(m.warning)
	}
	if !m.virtual {
		if m.list[0], err = s.claim(m.list[0], m.cpus); err != nil {
			return nil, err
		}
	}
	s.found, err = m.nodes()
	return s.found, err
}

// measure records what there is in all when the experiment begins.
func (s *session) measure() (err error) {
	nodes := s.found
	switch {
	case s.rig != nil:
		nodes = s.rig.Nodes
	case s.experiment.Trainable != nil:
		nodes, err = s.offered()
	}
	s.file.Capacity = capacityOf(nodes)
	return err
}

// capacityOf is what nodes have together; nil of none.
func capacityOf(nodes []resource.Node) map[string]string {
	sums := map[string]resource.Amount{}
	for _, n := range nodes {
		for _, it := range n.Capacity.Items() {
			sums[it.Name] = sums[it.Name].Add(it.Amount)
		}
	}
	if len(sums) == 0 {
		return nil
	}
	texts := map[string]string{}
	for name, amount := range sums {
		texts[name] = amount.String()
	}
	return texts
}

// warnOfIdleGPUs: GPUs are there and no trial asks for one (B-040).
func (s *session) warnOfIdleGPUs(nodes []resource.Node) {
	r, err := demand.Of(s.experiment)
	gpus := func(a config.ComputedAmount) bool { return a.Name == resource.GPU }
	if err != nil || slices.ContainsFunc(s.experiment.Computed, gpus) {
		return
	}
	for _, b := range r.Bundles() {
		if !b.Get(resource.GPU).IsZero() {
			return
		}
	}
	for _, n := range nodes {
		if x := n.Capacity.Get(resource.GPU); !x.IsZero() {
			s.log.Once("gpus", fmt.Sprintf("this machine has %s GPUs and no trial asks for one: write resources: {cpu: 1, gpu: 1} to use them", x))
			return
		}
	}
}

// machineNodes is this machine, or what the user says that it is.
func machineNodes(ctx context.Context, override string) ([]resource.Node, error) {
	m, err := lookAtMachine(ctx, override)
	if err != nil {
		return nil, err
	}
	return m.nodes()
}

// outfit is what there is to run trials on.
type outfit struct {
	list    []local.Node
	virtual bool   // made up by the user
	cpus    string // that there really are
	warning string
}

func lookAtMachine(ctx context.Context, override string) (m outfit, err error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	found, warning := local.Detect(ctx)
	m = outfit{list: []local.Node{found}, cpus: found.Amounts["cpu"], warning: warning}
	if override == "" {
		return m, nil
	}
	if virtual, err := local.Virtual(override); err == nil {
		m.list, m.virtual = virtual, true
		return m, nil
	}
	m.list[0], err = local.Override(found, override)
	return m, err
}

func (m *outfit) nodes() (nodes []resource.Node, err error) {
	for i, n := range m.list {
		capacity, err := demand.Bundle(n.Amounts)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, resource.Node{ID: uint32(i + 1), Name: n.Name, Capacity: capacity, Devices: n.IDs()})
	}
	return nodes, nil
}

// points are the user's own, first of all (B-104), as far as they are not trials
// already.
func (s *session) points() (events []core.Event, err error) {
	for i, p := range s.experiment.Points {
		if i < s.given {
			continue
		}
		g, err := points.Complete(s.experiment, s.file.Seed, uint64(i), p.Given)
		if err != nil {
			return nil, &UserError{fmt.Errorf("%s: %w", p.Pos, err)}
		}
		if err := s.request(&g); err != nil {
			return nil, &UserError{err}
		}
		events = append(events, &core.TrialGiven{Suggestion: g})
	}
	return events, nil
}

// compose makes the drivers and the engine, and gives the drivers what earlier hosts have
// left.
func (s *session) compose() {
	s.makeDrivers()
	s.makeBoard()
	s.effects = &effects{experiment: s.experiment, machine: s.machine, log: s.log}
	if s.plugins.Trainer != nil {
		s.sweep()
		s.drivers.training = s.makeTraining()
	}
	if wrap := s.options.composed.record; wrap != nil {
		s.record = wrap(s.record)
	}
	ports := s.livePorts()
	if change := s.options.composed.ports; change != nil {
		ports = change(s, ports)
	}
	s.engine = engine.New(engine.Options{Ports: ports, History: s.history, Inbox: s.inbox, Rules: s.rules, Disk: s.disk,
		Log: s.log, Before: s.last})
	s.handOver()
}

// handOver gives the drivers what earlier hosts have left undone.
func (s *session) handOver() {
	for _, w := range s.untold {
		s.drivers.scheduling.Put(w)
	}
	for _, x := range s.early {
		s.drivers.publishing.Tell(x)
	}
	s.untold, s.early = nil, nil
}

func (s *session) makeDrivers() {
	e, how := s.experiment, s.options.composed
	encode, suggestion := s.encode, s.suggestion
	if how.remembers {
		s.memory = newPointMemory()
		encode, suggestion = s.memory.encode(encode), s.memory.suggestion(suggestion)
	}
	s.translate = &translation.Translator{Machine: s.machine, Encode: encode}
	exploited := func(p space.Point) ([]byte, error) { return points.Exploited(e, s.file.Seed, p) }
	s.drivers = drivers{
		publishing: s.publisher(),
		searching: consulting.NewSearching(consulting.SearchOptions{
			Options:  s.consults(e.Searcher.Name, s.plugins.Searched, how.suggestions),
			Searcher: s.plugins.Searcher, Told: s.plugins.Told, Space: e.Space, Seed: s.file.Seed, Suggestion: suggestion}),
		scheduling: consulting.NewScheduling(consulting.ScheduleOptions{
			Options:   s.consults(spec.SchedulerNames(e), s.plugins.Scheduled, how.decisions),
			Scheduler: s.plugins.Scheduler, Params: exploited}),
	}
	later := s.drivers.publishing.Later
	s.plugins.Searched.Later, s.plugins.Scheduled.Later = later, later
}

func (s *session) makeBoard() {
	s.board = view.NewBoard(view.BoardOptions{State: s.state, Elapsed: s.running, Clock: s.clock, Hint: s.hint,
		Planned: spec.Runs(s.experiment)})
}

func (s *session) publisher() *telling.Publisher {
	return telling.NewPublisher(telling.PublisherOptions{
		Sync:   s.sync,
		Fail:   s.fail,
		Synced: s.remote.wake, Clock: s.clock})
}

// consults is what the drivers of searcher and scheduler have in common.
func (s *session) consults(name string, kept *snapshots.Snapshots, answers *inbox.Inbox) consulting.Options {
	return consulting.Options{Name: name, Inbox: cmp.Or(answers, s.inbox), Log: s.log, Clock: s.clock, Slow: slowCall, Snapshots: kept}
}

// suggestion makes a trial of a searcher's point.
func (s *session) suggestion(index uint64, p space.Point) (core.Suggestion, error) {
	g, err := points.Suggest(s.experiment, s.file.Seed, index, p)
	if err != nil {
		return g, fmt.Errorf("searcher %s: its suggestion %d cannot be a trial: %w", s.experiment.Searcher.Name, index, err)
	}
	return g, s.request(&g)
}

func (s *session) running() time.Duration { return s.engine.Running() }

// fail ends the loop: the record cannot be kept, or no trial be run.
func (s *session) fail(err error) {
	select {
	case s.failure <- err:
	default:
	}
}

// run turns the loop until the end. An interrupt is an event like any other.
func (s *session) run(ctx context.Context) (Ended, error) {
	turning, stop := context.WithCancel(context.Background())
	defer stop()
	if err := s.remote.start(s); err != nil {
		return s.ended(), err
	}
	s.startDrivers(turning)
	s.sayPaused()
	s.options.Exit.set(s)
	defer s.options.Exit.set(nil)
	deaf := s.listen(turning.Done())
	go s.draw(turning)
	interrupt := context.AfterFunc(ctx, func() { s.inbox.Post(&core.Interrupted{}) })
	defer interrupt()
	broken := s.endOnFailure(turning, stop)
	err := s.safely(func() error { return s.engine.Run(turning, ctx.Done()) })
	stop()
	if cause := <-broken; cause != nil {
		err = cause
	}
	deaf()
	if err == nil {
		s.board.Write(true) // what is shown last is how it ended
	}
	s.stopDrivers(err != nil)
	if err == nil {
		err = s.missing()
	}
	if s.remote != nil {
		s.options.Exit.remind() // copying may take a while
		s.remote.finish(s)
	}
	if s.broken = err != nil; s.broken {
		s.log.Info("the host stops: " + err.Error()) // the caller says it to the user
	} else {
		s.sumUp()
	}
	return s.ended(), err
}

// endOnFailure stops the loop where something beside it fails. The channel has that error
// once the loop is stopped, or nil.
func (s *session) endOnFailure(turning context.Context, stop func()) <-chan error {
	broken := make(chan error, 1)
	go func() {
		select {
		case err := <-s.failure:
			broken <- err
			stop()
		case <-turning.Done():
			broken <- nil
		}
	}()
	return broken
}

// sync makes the record safe, and looks whether what else is needed is still there.
func (s *session) sync() error {
	if err := s.record.Sync(); err != nil {
		return engine.Unrecorded(err)
	}
	return s.housed()
}

// housed is an error where the trials' directories were taken away, or what makes the
// experiment's directory this host's.
func (s *session) housed() error {
	if s.lock == nil {
		return nil
	}
	if err := cmp.Or(s.lock.Check(), s.holdings.check()); err != nil {
		return fmt.Errorf("everything is stopped: %w", err)
	}
	if s.experiment.Trainable == nil {
		return nil
	}
	if err := s.dir.Check(); err != nil {
		return fmt.Errorf("no trial can go on, and everything is stopped: %w", err)
	}
	return nil
}

// missing says what went wrong since the loop has ended, or was taken away without being
// needed any more: an end in order is one of which all is there.
func (s *session) missing() error {
	select {
	case err := <-s.failure:
		return err
	default:
	}
	if j, ok := s.record.(interface{ Check() error }); ok && s.lock != nil {
		if err := j.Check(); err != nil {
			return engine.Unrecorded(err)
		}
	}
	return s.housed()
}

func (s *session) startDrivers(ctx context.Context) {
	d := &s.drivers
	s.publish(s.reporters())
	go d.searching.Run(ctx)
	go d.scheduling.Run(ctx)
	if d.training != nil {
		go d.training.Run(ctx)
	}
	// What an earlier host left untold goes out at once.
	d.scheduling.Flush()
	d.publishing.Flush()
	d.scheduling.CheckStuck()
}

// publish begins to tell reporters.
func (s *session) publish(reporters []*telling.Teller) {
	d := &s.drivers
	for _, r := range reporters {
		d.publishing.Listen(r)
		go r.Run()
	}
	go d.publishing.Run()
}

// stopDrivers ends them in order: nothing is trained any more, then the last
// news is published.
func (s *session) stopDrivers(broken bool) {
	d := &s.drivers
	s.inbox.Close()
	if d.training != nil {
		d.training.Close()
	}
	d.searching.Close()
	d.scheduling.Close()
	<-d.searching.Done() // a plugin is closed by whoever does not call it any more
	<-d.scheduling.Done()
	if !broken {
		s.publishRest()
		s.endProgress()
	}
}

// publishRest tells reporters the last news, and waits for those that listen.
func (s *session) publishRest() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s.drivers.publishing.Close(ctx)
}

func (s *session) ended() Ended {
	o, why := s.machine.Outcome()
	return Ended{Outcome: o, Reason: why.String(), Errored: s.machine.Count(core.Errored), Dir: s.dir.Path()}
}
