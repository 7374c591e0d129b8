package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/claims"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/consulting"
	"github.com/tunehost/tunehost/host/control"
	"github.com/tunehost/tunehost/host/diskspace"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/loading"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/report/files"
	"github.com/tunehost/tunehost/host/report/terminal"
	"github.com/tunehost/tunehost/host/runfile"
	"github.com/tunehost/tunehost/host/snapshots"
	"github.com/tunehost/tunehost/host/spec"
	"github.com/tunehost/tunehost/host/stoprules"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/telling"
	"github.com/tunehost/tunehost/host/training"
	"github.com/tunehost/tunehost/host/translation"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/warden"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// slowCall is how long a plugin's call may take before it is named.
const slowCall = 2 * time.Second

// session is one host's time with an experiment.
type session struct {
	options    Options
	experiment *config.Experiment
	file       *runfile.File
	dir        storage.Dir
	lock       *journal.Lock
	holdings   holdings
	log        *hostlog.Log
	screen     *hostlog.Screen
	mark       string         // of what this host starts
	warden     *warden.Warden // nil where nothing is started
	claims     *claims.Entry  // on this machine
	logFile    io.Closer
	crash      *crashReport // nil where there is none
	disk       *diskspace.Disk
	clock      clock.Clock
	history    *history.History
	machine    *core.Machine    // the history's
	found      []resource.Node  // this machine's, once they were looked for
	rules      *stoprules.Rules // given what was recorded, as the machine is
	record     engine.Recorder
	past       opening.Past
	loader     *loading.Loader
	plugins    opening.Plugins
	requesting *training.Requesting // nil: trials ask for what the file says
	relays     []*telling.Relay     // reporters that are plugins
	remote     *remote              // nil: the experiment is here alone
	inbox      *inbox.Inbox
	effects    *effects
	engine     *engine.Engine
	drivers    drivers
	translate  *translation.Translator
	memory     *pointMemory // nil: nothing is remembered
	display    *publisherPort
	trials     *trials
	events     *view.EventBuilder
	facts      *view.Facts
	state      *view.State // what readers see of the machine
	board      *view.Board
	progress   *terminal.Progress

	lessons []lesson    // trials of other experiments
	from    *core.Start // what every trial starts from

	// extends is the experiment as it was before this host extended it; nil: it
	// did not.
	extends *config.Experiment
	// rig is what stands for a machine; nil: this one is real.
	rig *Rig

	last     int64 // running time of the last event recorded by an earlier host
	begun    bool  // an earlier host has recorded something
	given    int   // points of the file that are trials already
	untold   []consulting.ScheduleWork
	early    []view.Event // observations made before the drivers run
	failure  chan error
	summed   sync.Once // the last word was said
	broken   bool      // it ended with an error, which was told
	unclosed error     // the record's last
	// reported is the last event that the files are known to have, toldBefore
	// the last one of earlier hosts.
	reported, toldBefore uint64
}

// newSession is not kept anywhere yet: see occupy and float.
func newSession(o Options, e *config.Experiment) *session {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.opening == nil {
		o.opening = context.Background()
	}
	if o.manual {
		e.Trainable = nil // whatever the file says, the caller trains
	}
	h := history.New()
	return &session{options: o, experiment: e, clock: o.Clock, history: h, machine: h.Machine(), rules: stoprules.New(e),
		inbox: inbox.New(), failure: make(chan error, 1), remote: o.remote}
}

// after takes steps, each if those before it went well, and closes the session if
// one did not.
func (s *session) after(steps ...func() error) (*session, error) {
	for _, step := range steps {
		if err := step(); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// occupy takes the directory's lock: from here on nobody else writes to it
// (B-085).
func (s *session) occupy(dir storage.Dir) (err error) {
	if err := s.options.mine(dir); err != nil {
		return err
	}
	if err := dir.Create(); err != nil {
		return &UserError{err}
	}
	if s.lock = s.remote.locked(); s.lock == nil {
		if s.lock, err = journal.LockDir(dir.Path(), s.clock.Now()); err != nil {
			return &UserError{err}
		}
	}
	if err := control.Vacant(dir); err != nil {
		return &UserError{err}
	}
	f, err := nolink.OpenFile(dir.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return &UserError{err}
	}
	s.dir, s.logFile, s.past = dir, f, opening.PastIn(dir.Journal())
	s.keepLog(f)
	if err := errors.Join(storage.SweepTemporaries(dir.Path()), storage.SweepTemporaries(dir.Snapshots())); err != nil {
		s.log.Warn("files that an earlier host had not finished could not be removed: " + err.Error())
	}
	for _, text := range dir.Doubts() {
		s.log.Warn(text)
	}
	s.expectCrash()
	s.guard()
	return nil
}

// float keeps the session in memory: nothing is written, and nothing can be gone
// on with.
func (s *session) float() {
	m := &memory{}
	s.record, s.past, s.mark = m, m.past, local.NewMark("")
	s.keepLog(io.Discard)
}

func (s *session) keepLog(file io.Writer) {
	s.screen = hostlog.NewScreen(s.options.Stderr, s.logPath())
	var shown *hostlog.Screen
	if s.options.Verbose > 0 && s.options.Stderr != nil {
		shown = s.screen
	}
	s.log = hostlog.Open(file, shown)
	s.disk = diskspace.New(s.log, s.clock)
}

// guard sees to it that nothing of this host will be left running, and that
// nothing of an earlier one is (B-025).
func (s *session) guard() {
	s.mark = local.NewMark(s.dir.Path())
	if s.options.inProcess {
		return
	}
	if n := local.KillLeftovers(s.dir.Path()); n > 0 {
		s.log.Warn(fmt.Sprintf("processes of an earlier host were still running and are killed: %d", n))
	}
	if n := local.CountLeftovers(s.dir.Path()); n > 0 {
		s.log.Warn(fmt.Sprintf("processes of an earlier host do not end although they were killed: %d; they may still write to their trials' directories", n))
	}
	var err error
	if s.warden, err = warden.Start(s.options.Plugins.Warden(s.mark), s.mark); err != nil {
		s.log.Warn("what this host starts would outlive it if it were killed: " + err.Error())
	}
}

func (s *session) close() {
	s.plugins.Close()
	s.requesting.Close()
	for _, r := range s.relays {
		_ = r.Close() // if it has not been: there was nothing to tell
	}
	if s.warden != nil {
		s.warden.Close()
	}
	s.claims.Leave()
	if s.record != nil {
		if err := s.record.Close(); err != nil && !s.broken && !errors.Is(err, journal.ErrClosed) {
			s.unclosed = engine.Unrecorded(err)
		}
	}
	s.remote.close()
	s.endCrash()
	if s.logFile != nil {
		_ = s.logFile.Close()
	}
	if s.lock != nil {
		_ = s.lock.Unlock()
	}
}

// create begins the record of a new experiment.
func (s *session) create() error {
	var err error
	if s.file, err = runfile.New(s.experiment, s.clock.Now()); err != nil {
		return err
	}
	if err := s.learn(); err != nil {
		return err
	}
	if err := s.bring(); err != nil {
		return err
	}
	if err := s.measure(); err != nil {
		return err
	}
	if err := s.openPlugins(0, 0); err != nil {
		return err
	}
	// What can be refused is refused before there is anything to go on with.
	first, err := s.first()
	if err == nil {
		err = s.options.opening.Err()
	}
	if err != nil {
		return err
	}
	if s.lock != nil {
		if err := s.settle(); err != nil {
			return err
		}
	}
	s.start(first)
	return s.hold()
}

// settle makes what a new experiment is in its directory.
func (s *session) settle() error {
	if err := errors.Join(s.keepLessons(), s.file.Write(s.dir), s.writeLock()); err != nil {
		return err
	}
	id, err := s.file.ID()
	if err != nil {
		return err
	}
	if s.record, err = newRecord(s.dir, id); err != nil {
		return err
	}
	// The experiment's file comes last: with it, the experiment exists.
	return storage.WriteFile(s.dir.Experiment(), s.experiment.Source)
}

// newRecord makes the record of a new experiment. One without events is what a
// host left that died before its experiment was there.
func newRecord(d storage.Dir, id journal.RunID) (engine.Recorder, error) {
	fs, err := journal.MakeDir(d.Journal())
	if err != nil {
		return nil, err
	}
	j, err := journal.Create(fs, journal.Options{RunID: id})
	if err == nil {
		return j, nil
	}
	if !errors.Is(err, journal.ErrExists) {
		return nil, err
	}
	if found, err := journal.Verify(fs, journal.Options{}, nil); err != nil || found.Next > 1 {
		return nil, userError("%s has the record of an experiment, but %s is gone: put it back, or give the new experiment another --name", d.Journal(), d.Experiment())
	}
	if err := journal.Clear(fs); err != nil {
		return nil, err
	}
	if j, err = journal.Create(fs, journal.Options{RunID: id}); err != nil {
		return nil, err
	}
	return j, nil
}

// open replays the record; that is all of resuming.
func (s *session) open(changed bool) error {
	id, err := s.file.ID()
	if err != nil {
		return &UserError{err}
	}
	fs, err := journal.OpenDir(s.dir.Journal())
	if errors.Is(err, os.ErrNotExist) {
		return userError("%s: the experiment's record is gone: put it back, or give the new experiment another --name", s.dir.Journal())
	}
	if err != nil {
		return err
	}
	s.reported = files.Reported(s.dir.Path())
	if err := s.takeUp(fs, journal.Options{RunID: id}, s.replay); err != nil {
		return &UserError{fmt.Errorf("%s: %w", s.dir.Journal(), err)}
	}
	if err := errors.Join(s.sameTrainer(), s.programThere(), s.extendable(), s.recallLessons(), s.recallStart(), s.remakeTrials()); err != nil {
		return err
	}
	if err := s.openPlugins(s.machine.Observations(), s.machine.Decided()); err != nil {
		return err
	}
	first, err := s.first()
	if err != nil {
		return err
	}
	if changed {
		if err := s.file.Write(s.dir); err != nil {
			return err
		}
	}
	if err := s.writeLock(); err != nil {
		return err
	}
	s.start(first)
	return s.hold()
}

// takeUp opens the record and has it replayed.
func (s *session) takeUp(fs journal.FS, o journal.Options, replay journal.Replay) error {
	s.prepare()
	j, opened, err := journal.Open(fs, o, replay)
	if err != nil {
		return err
	}
	s.record, s.begun, s.toldBefore = j, opened.Next > 1, s.events.Last()
	if opened.Cut != nil {
		s.log.Warn("the end of the record was torn by a crash and is cut off: " + opened.Cut.String())
	}
	return nil
}

// sameTrainer: who trained an experiment's trials goes on to train them.
func (s *session) sameTrainer() error {
	switch manual := s.machine.Spec().Manual; {
	case !s.begun || manual == s.options.manual:
		return nil
	case manual:
		return userError("%s: its trials are trained by the caller of `tunehost asktell`; go on with that", s.dir.Path())
	}
	return userError("%s: its trials are trained by its trainable; go on with `tunehost run`, or give another --name", s.dir.Path())
}

// prepare makes what listens to the machine.
func (s *session) prepare() {
	s.facts = &view.Facts{Name: s.experiment.Name, Seed: s.file.Seed, Config: s.experiment, Dir: s.dir,
		Created: s.file.Created}
	s.state = view.NewState(s.facts, s.history)
	s.trials = newTrials(s.state)
	s.events = view.NewEventBuilder(s.machine, s.trials.Of)
}

func hostname() string {
	host, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return host
}

// replay applies records of earlier hosts. Nothing is done but listening: what
// is still to be done, the machine says again when this host starts.
func (s *session) replay(first uint64, records [][]byte) error {
	if err := s.options.opening.Err(); err != nil {
		return err
	}
	return s.history.Replay(history.Visitor{Before: s.recall, After: s.hear})(first, records)
}

// recall takes note of what is to happen, while the machine is as it was before.
func (s *session) recall(x history.Entry) error {
	s.last = max(s.last, x.At)
	s.rules.Recall(s.machine, x.Event)
	return nil
}

// hear keeps what the drivers will need of the past: results that the scheduler
// has not answered, and what reporters have not been told.
func (s *session) hear(x *history.Step) error {
	s.state.Noted(x.Actions)
	s.events.Hear(x, s.reported, func(e view.Event) { s.early = append(s.early, e) })
	if given, ok := x.Event.(*core.TrialGiven); ok && !given.Extra {
		s.given++
	}
	if !s.machine.Spec().Quiet {
		s.owe(x)
	}
	for len(s.untold) > 0 && s.untold[0].Event.Number <= s.machine.Decided() {
		s.untold = s.untold[1:]
	}
	return nil
}

// owe keeps what the scheduler is to hear.
func (s *session) owe(x *history.Step) {
	t := translation.Translator{Machine: s.machine, Encode: s.encode}
	l := translation.Listener{To: core.ToScheduler, Traits: sdk.Traits{Metrics: true},
		Hear: func(e sdk.Event, due bool) { s.untold = append(s.untold, consulting.ScheduleWork{Event: e, Due: due}) }}
	for o := range x.Observations(core.ToScheduler) {
		if err := t.Tell(o, &l); err != nil {
			s.log.Error(err.Error())
		}
	}
}

func (s *session) encode(params []byte) (space.Point, error) {
	return config.PointOf(s.experiment.Space, params)
}

func (s *session) opener() *opening.Opener {
	o := &opening.Opener{Experiment: s.experiment, Seed: s.file.Seed, Capacity: s.file.Capacity, Bundled: s.options.Plugins, Loader: s.loader, BaseDir: filepath.Dir(s.file.File),
		Log: s.log, LogPath: s.logPath(), Clock: s.clock, Mark: s.mark, Timeout: s.options.CallTimeout, InProcess: s.options.inProcess, Direct: s.options.virtual && s.rig == nil,
		Trusted: !s.options.virtual || s.rig != nil || s.options.Trust,
		Run:     s.file.RunID, SnapshotEvery: cmp.Or(s.options.snapshotEvery, snapshots.Every)}
	switch {
	case s.rig != nil:
		o.Alone, o.Shelf = true, s.rig.Snapshots
	case s.lock != nil:
		o.Shelf = snapshots.Folder(s.dir.Snapshots())
	}
	return o
}

func (s *session) openPlugins(told, decided uint64) (err error) {
	if s.trials == nil {
		s.prepare()
	}
	if err := s.findPlugins(); err != nil {
		return err
	}
	h := &opening.Retelling{Past: s.past, Encode: s.encode}
	if s.plugins, err = s.opener().Open(s.options.opening, h, told, decided); err != nil {
		return s.unlessInterrupted(err)
	}
	if t := s.plugins.Trainer; t != nil && t.Traits().Requests {
		if s.requesting, err = s.makeRequesting(t); err != nil {
			return err
		}
	}
	return s.openReporters()
}

// unlessInterrupted is why the experiment cannot begin: where the user has interrupted
// it, that, and not what it has broken.
func (s *session) unlessInterrupted(err error) error {
	if interrupted := s.options.opening.Err(); interrupted != nil {
		return interrupted
	}
	if errors.Is(err, plugin.ErrGaveUp) {
		return err // it failed, and nothing that the user has written did
	}
	return &UserError{err}
}

// logPath is where the log is kept; "" where none is.
func (s *session) logPath() string {
	if s.logFile == nil {
		return ""
	}
	return s.dir.Log()
}

func (s *session) spec() (core.Spec, error) {
	x, err := spec.Of(s.experiment, s.file.Seed, s.plugins.Traits())
	x.Manual = s.options.manual
	if s.begun {
		x.Rules = s.machine.Spec().Rules
	}
	if x.Rules >= core.RulesV2 {
		x.Required = append(x.Required, spec.RequiredScore(s.experiment)...)
	}
	x.Start, x.Extended = s.from, uint32(len(s.file.Extensions))
	x.Saves = x.Saves || s.options.virtual // what is recorded can be gone on with anywhere
	return x, err
}

// programThere says whether trials that are left can be started; one that is over needs no
// program any more.
func (s *session) programThere() error {
	if ended, _ := s.machine.Outcome(); ended != 0 {
		return nil
	}
	if err := startable(s.experiment); err != nil {
		return &UserError{err}
	}
	return nil
}
