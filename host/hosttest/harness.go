package hosttest

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/compose"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/consult/snapshots"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/loading"
	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Harness stands for the machine of a host that is run step by step, for tests: the engine, its
// drivers, the record and the code that resumes an experiment are the real ones. The clock, the
// files, the trainables and the reporters are the caller's. Everything happens in the caller's
// goroutine, and nothing by itself.
type Harness struct {
	// Experiment is read without a trainable. The next host may have another one,
	// with changes that are taken; Extensions counts those that are extensions.
	Experiment *config.Experiment
	Extensions int
	Seed       uint64
	RunID      journal.RunID
	Plugins    *bundled.Registry
	// Clock's AfterFunc is called to wait for room on a full disk, and by nobody
	// else. It calls f before it returns.
	Clock clock.Clock
	// Record is where the journal is; SegmentBytes is as in journal.Options.
	Record       journal.FS
	SegmentBytes int64
	// Snapshots keeps plugins' snapshots, which are made every SnapshotEvery
	// events, or as usual where that is 0.
	Snapshots     snapshots.Shelf
	SnapshotEvery uint64
	// Nodes are those that are there when a host starts.
	Nodes []resource.Node
	// Leases is how trials get leases of an engine, which is the probe's; nil: they run
	// on nodes.
	Leases *core.Leases
	PID    uint32
	// Boot is the machine's.
	Boot string
	// Saves: trials can make checkpoints when they are asked to.
	Saves bool
	// Resume is as in Options.
	Resume string
	// Reported is the last event that the reporter has.
	Reported uint64
	Probe    Probe

	loader *loading.Loader
	loaded *config.Experiment // that the loader is for
}

// Probe sees what a host on a Harness does, and does what happens outside of it.
type Probe interface {
	// Replayed has a batch of an earlier host's record; Appending one before it
	// is written, Appended after. The records are not to be changed.
	Replayed(first uint64, records [][]byte)
	Appending(records [][]byte)
	Appended(first uint64)
	// Listener hears of each event and action. The probe carries out
	// actions about attempts, leases and timers.
	engine.Listener
	// Remove removes a checkpoint.
	Remove(trial core.TrialNo, id uint32)
	// Hear is the reporter.
	Hear([]view.Event)
}

// SteppedHost is a host that is run step by step.
type SteppedHost struct {
	s       *compose.Session
	harness *Harness
	// runs are the attempts that trainables are told of.
	runs map[core.TrialNo]*steppedAttempt
	// What the plugins have answered waits here until it is delivered.
	suggestions, decisions *inbox.Inbox
	mute, silent           bool // the searcher or the scheduler has failed for good
}

// steppedAttempt is what the host knows of one.
type steppedAttempt struct {
	number  uint32
	reports life.Reports
}

// Start begins the experiment, or continues with it where there is a record.
func (h *Harness) Start() (*SteppedHost, error) {
	t := &SteppedHost{harness: h, runs: map[core.TrialNo]*steppedAttempt{}, suggestions: inbox.New(),
		decisions: inbox.New()}
	stage := &compose.Stage{Nodes: h.Nodes, Leases: h.Leases, PID: h.PID, Boot: h.Boot, Shelf: h.Snapshots,
		Disk:         h.Record,
		SegmentBytes: h.SegmentBytes, Replayed: h.Probe.Replayed, Reported: h.Reported}
	if h.loaded == h.Experiment {
		stage.Loader = h.loader
	}
	how := compose.How{Ports: t.ports, Suggestions: t.suggestions, Decisions: t.decisions, Stage: stage,
		Record: func(r engine.Recorder) engine.Recorder { return &watched{r, h.Probe} }}
	o := options.Options{Plugins: h.Plugins, Clock: h.Clock, Resume: h.Resume}
	o.Mode = options.Mode{InProcess: true, Virtual: h.Saves, SnapshotEvery: h.SnapshotEvery}
	p := &prepare.Plan{Experiment: h.Experiment, File: &runfile.File{RunID: hex.EncodeToString(h.RunID[:]),
		Seed: h.Seed,
		Name: h.Experiment.Name, Extensions: make([]runfile.Extension, h.Extensions)}}
	s, err := compose.Begin(context.Background(), p, o, how)
	if err != nil {
		return nil, err
	}
	h.loader, h.loaded = s.Plugins.Loader, h.Experiment
	s.Drivers.Scheduling.CheckStuck()
	t.DeliverDecisions()
	return t, nil
}

// watched is a record that a probe sees.
type watched struct {
	engine.Recorder
	probe Probe
}

// Append implements engine.Recorder.
func (w *watched) Append(records [][]byte) (uint64, error) {
	w.probe.Appending(records)
	first, err := w.Recorder.Append(records)
	if err == nil {
		w.probe.Appended(first)
	}
	return first, err
}

// ports puts the probe in the place of trainables, files and timers.
func (t *SteppedHost) ports(s *compose.Session, live engine.Ports) engine.Ports {
	t.s = s
	s.Drivers.Publishing.Listen(reporting{t.harness.Probe})
	live.Executor, live.Store, live.Timer = (*steppedExecutor)(t), (*steppedStore)(t), steppedTimer{}
	live.Granter = engine.NoGranter{}
	live.Listeners = append([]engine.Listener{t.harness.Probe}, live.Listeners...)
	return live
}

// steppedStore lets the probe remove checkpoints.
type steppedStore SteppedHost

// Delete implements engine.Store.
func (t *steppedStore) Delete(a core.DeleteCheckpoint) {
	t.s.Drivers.Publishing.Later(func() { t.harness.Probe.Remove(a.Trial, a.ID) })
}

// steppedTimer sets nothing: the probe posts ticks.
type steppedTimer struct{}

// Set implements engine.Timer.
func (steppedTimer) Set(int64) {}

// reporting is a probe as a reporter.
type reporting struct{ Probe }

func (w reporting) Put(events []view.Event) {
	if len(events) > 0 {
		w.Hear(events)
	}
}
func (reporting) End()                  {}
func (reporting) Await(context.Context) {}

// steppedExecutor follows what trainables are told.
type steppedExecutor SteppedHost

// Do implements engine.Executor.
func (t *steppedExecutor) Do(a core.Action) {
	switch a := a.(type) {
	case core.StartAttempt:
		t.runs[a.Trial] = &steppedAttempt{a.Attempt, life.NewReports(a.Restore.Iteration)}
	case core.ContinueAttempt:
		if r := t.runs[a.Trial]; r != nil && r.number == a.Attempt {
			r.reports.Grant(a.Credits)
		}
	case core.RunAhead: // no decision is quick here
		if r := t.runs[a.Trial]; r != nil && r.number == a.Attempt {
			r.reports.Advance(r.reports.Reported())
		}
	case core.StopAttempt:
		if r := t.runs[a.Trial]; r != nil && r.number == a.Attempt {
			r.reports.Stopping()
		}
	}
}

// Flush implements engine.Executor.
func (*steppedExecutor) Flush() {}

// Machine is the core: look, and apply nothing.
func (t *SteppedHost) Machine() *core.Machine { return t.s.Machine }

// Post puts events in the loop's inbox.
func (t *SteppedHost) Post(events ...core.Event) { t.s.Inbox().Post(events...) }

// Report is what a trainable reports, on the way that reports take. An error is
// why its trial fails: it must be stopped, and nothing that it says until it
// ends counts.
func (t *SteppedHost) Report(no core.TrialNo, number uint32, x sdk.Result) error {
	r := t.runs[no]
	if r == nil || r.number != number {
		return nil // as training: nobody listens to it any more
	}
	if err := r.reports.Take(&x); err != nil {
		return fmt.Errorf("it reported nonsense: %w", err)
	}
	t.s.Inbox().PostResult(&inbox.Result{Trial: no, Attempt: number, Result: x})
	return nil
}

// Step records and applies what is in the inbox. Its error is the host's end.
func (t *SteppedHost) Step() (busy bool, err error) { return t.s.Step() }

// Over says that the host has nothing left to do.
func (t *SteppedHost) Over() bool { return t.s.Engine().Over() }

// Decide has the scheduler decide on what waits for it, if anything does. What it
// answers is held until DeliverDecisions.
func (t *SteppedHost) Decide() bool {
	s := t.s.Drivers.Scheduling
	if t.silent {
		return false
	}
	busy, err := s.Turn(context.Background())
	if t.silent = err != nil; busy && !t.silent && s.Idle() {
		s.CheckStuck()
	}
	return busy
}

// Suggest has the searcher take what waits for it, if anything does. What it
// answers is held until DeliverSuggestions.
func (t *SteppedHost) Suggest() bool {
	s := t.s.Drivers.Searching
	if t.mute {
		return false
	}
	busy, err := s.Turn(context.Background())
	t.mute = err != nil
	return busy
}

// DeliverDecisions puts what the scheduler has answered in the loop's inbox.
func (t *SteppedHost) DeliverDecisions() { t.s.Inbox().Add(t.decisions.Take(nil)) }

// DeliverSuggestions puts what the searcher has answered in the loop's inbox.
func (t *SteppedHost) DeliverSuggestions() { t.s.Inbox().Add(t.suggestions.Take(nil)) }

// Publish makes the record safe, and does what rests on it.
func (t *SteppedHost) Publish() { t.s.Drivers.Publishing.Publish() }

// Publishes says whether something waits to be published.
func (t *SteppedHost) Publishes() bool { return t.s.Drivers.Publishing.Waits() }

// Leave is an orderly end: the last news is told, the record closed.
func (t *SteppedHost) Leave() error {
	t.s.Inbox().Close()
	t.Publish()
	if err := t.s.Failure(); err != nil {
		return err
	}
	t.s.ClosePlugins()
	return t.s.Record.Close()
}
