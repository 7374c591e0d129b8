package host

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/diskspace"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/loading"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/runfile"
	"github.com/tunehost/tunehost/host/snapshots"
	"github.com/tunehost/tunehost/host/training"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Rig is what stands for a machine where a host is turned by hand, for tests: the
// loop, its crew, the record and all of taking an experiment up are the real
// ones. Where time comes from, where files go, who trains and who listens are the
// caller's. Everything happens in the caller's goroutine, and nothing by itself.
type Rig struct {
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
	PID   uint32
	// Boot is the machine's.
	Boot string
	// Saves: trials can make checkpoints when they are asked to.
	Saves bool
	// Resume is as in Options.
	Resume string
	// Reported is the last event that the reporter has.
	Reported uint64
	Witness  Witness

	loader *loading.Loader
	loaded *config.Experiment // that the loader is for
}

// Witness sees what a host on a Rig does, and does for it what happens outside.
type Witness interface {
	// Replayed has a batch of an earlier host's record; Appending one before it
	// is written, Appended after. The records are not to be changed.
	Replayed(first uint64, records [][]byte)
	Appending(records [][]byte)
	Appended(first uint64)
	// Listener hears of each event and action. Actions about attempts and timers are the
	// witness's to carry out.
	engine.Listener
	// Remove removes a checkpoint.
	Remove(trial core.TrialNo, id uint32)
	// Hear is the reporter.
	Hear([]view.Event)
}

// Turned is a host that is turned by hand.
type Turned struct {
	s   *session
	rig *Rig
	// runs are the attempts that trainables are told of.
	runs map[core.TrialNo]*attempt
	// What the plugins have answered waits here until it is delivered.
	suggestions, decisions *inbox.Inbox
	mute, silent           bool // the searcher or the scheduler is beyond help
}

// attempt is what the host knows of one.
type attempt struct {
	number  uint32
	reports training.Reports
}

// Start takes the experiment up, or begins it where there is no record.
func (r *Rig) Start() (*Turned, error) {
	t := &Turned{rig: r, runs: map[core.TrialNo]*attempt{}, suggestions: inbox.New(), decisions: inbox.New()}
	how := composition{ports: t.ports, suggestions: t.suggestions, decisions: t.decisions,
		record: func(r engine.Recorder) engine.Recorder { return &watched{r, t.rig.Witness} }}
	s := newSession(Options{Plugins: r.Plugins, Clock: r.Clock, Resume: r.Resume, inProcess: true, virtual: r.Saves,
		snapshotEvery: r.SnapshotEvery, composed: how}, r.Experiment)
	s.rig, s.reported = r, r.Reported
	if r.loaded == r.Experiment {
		s.loader = r.loader
	}
	s.file = &runfile.File{RunID: hex.EncodeToString(r.RunID[:]), Seed: r.Seed, Name: r.Experiment.Name, Extensions: make([]runfile.Extension, r.Extensions)}
	s.screen = hostlog.NewScreen(io.Discard, "")
	s.log = hostlog.New(hclog.NewNullLogger())
	s.disk = diskspace.New(s.log, s.clock)
	s.past = func() (*history.History, error) { return history.From(journal.NewReader(r.Record)), nil }
	if err := r.open(s); err != nil {
		return nil, err
	}
	r.loader, r.loaded = s.loader, r.Experiment
	s.drivers.scheduling.CheckStuck()
	t.DeliverDecisions()
	return t, nil
}

// open is session.create and session.open without a directory.
func (r *Rig) open(s *session) error {
	o := journal.Options{RunID: r.RunID, SegmentBytes: r.SegmentBytes}
	err := s.takeUp(r.Record, o, func(first uint64, records [][]byte) error {
		r.Witness.Replayed(first, records)
		return s.replay(first, records)
	})
	fresh := errors.Is(err, journal.ErrNoJournal)
	if err != nil && !fresh {
		return err
	}
	if err := s.openPlugins(s.machine.Observations(), s.machine.Decided()); err != nil {
		return err
	}
	first, err := s.first()
	if err != nil {
		return err
	}
	if fresh {
		if s.record, err = journal.Create(r.Record, o); err != nil {
			return err
		}
	}
	s.start(first)
	return nil
}

// watched is a record that a witness sees.
type watched struct {
	engine.Recorder
	witness Witness
}

// Append implements engine.Recorder.
func (w *watched) Append(records [][]byte) (uint64, error) {
	w.witness.Appending(records)
	first, err := w.Recorder.Append(records)
	if err == nil {
		w.witness.Appended(first)
	}
	return first, err
}

// ports puts the witness in the place of trainables, files and timers.
func (t *Turned) ports(s *session, live engine.Ports) engine.Ports {
	t.s = s
	s.drivers.publishing.Listen(witnessing{t.rig.Witness})
	s.display.board = nil
	live.Executor, live.Store, live.Timer = (*turnedExecutor)(t), (*turnedStore)(t), turnedTimer{}
	live.Listeners = append([]engine.Listener{t.rig.Witness}, live.Listeners...)
	return live
}

// turnedStore has the witness remove checkpoints.
type turnedStore Turned

// Delete implements engine.Store.
func (t *turnedStore) Delete(a core.DeleteCheckpoint) {
	t.s.drivers.publishing.Later(func() { t.rig.Witness.Remove(a.Trial, a.ID) })
}

// turnedTimer sets nothing: the witness posts ticks.
type turnedTimer struct{}

// Set implements engine.Timer.
func (turnedTimer) Set(int64) {}

// witnessing is a witness as a reporter.
type witnessing struct{ Witness }

func (w witnessing) Put(events []view.Event) {
	if len(events) > 0 {
		w.Hear(events)
	}
}
func (witnessing) End()                  {}
func (witnessing) Await(context.Context) {}

// turnedExecutor follows what trainables are told.
type turnedExecutor Turned

// Do implements engine.Executor.
func (t *turnedExecutor) Do(a core.Action) {
	switch a := a.(type) {
	case core.StartAttempt:
		t.runs[a.Trial] = &attempt{a.Attempt, training.NewReports(a.Restore.Iteration)}
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
func (*turnedExecutor) Flush() {}

// Machine is the core: look, and apply nothing.
func (t *Turned) Machine() *core.Machine { return t.s.machine }

// Post puts events in the loop's inbox.
func (t *Turned) Post(events ...core.Event) { t.s.inbox.Post(events...) }

// Report is what a trainable reports, on the way that reports take. An error is
// why its trial fails: it is to be stopped, and nothing that it says until it
// ends counts.
func (t *Turned) Report(no core.TrialNo, number uint32, x sdk.Result) error {
	r := t.runs[no]
	if r == nil || r.number != number {
		return nil // as training: nobody listens to it any more
	}
	if err := r.reports.Take(&x); err != nil {
		return fmt.Errorf("it reported nonsense: %w", err)
	}
	t.s.inbox.PostResult(&inbox.Result{Trial: no, Attempt: number, Result: x})
	return nil
}

// Step records and applies what is in the inbox. Its error is the host's end.
func (t *Turned) Step() (busy bool, err error) { return t.s.step() }

// Over says that the host has nothing left to do.
func (t *Turned) Over() bool { return t.s.engine.Over() }

// Decide has the scheduler decide on what waits for it, if anything does. What it
// answers is held until DeliverDecisions.
func (t *Turned) Decide() bool {
	s := t.s.drivers.scheduling
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
func (t *Turned) Suggest() bool {
	s := t.s.drivers.searching
	if t.mute {
		return false
	}
	busy, err := s.Turn(context.Background())
	t.mute = err != nil
	return busy
}

// DeliverDecisions puts what the scheduler has answered in the loop's inbox.
func (t *Turned) DeliverDecisions() { t.s.inbox.Add(t.decisions.Take(nil)) }

// DeliverSuggestions puts what the searcher has answered in the loop's inbox.
func (t *Turned) DeliverSuggestions() { t.s.inbox.Add(t.suggestions.Take(nil)) }

// Publish makes the record safe, and does what rests on it.
func (t *Turned) Publish() { t.s.drivers.publishing.Publish() }

// Publishes says whether something waits to be published.
func (t *Turned) Publishes() bool { return t.s.drivers.publishing.Waits() }

// Leave is an orderly end: the last news is told, the record closed.
func (t *Turned) Leave() error {
	t.s.inbox.Close()
	t.Publish()
	select {
	case err := <-t.s.failure:
		return err
	default:
	}
	t.s.plugins.Close()
	return t.s.record.Close()
}
