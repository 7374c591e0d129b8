package view

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/naming"
	"github.com/tunehost/tunehost/host/runfile"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Experiment is one experiment's directory, as far as it was read. It is for one
// goroutine.
type Experiment struct {
	dir    storage.Dir
	run    *runfile.File
	config *config.Experiment
	replay *replay
	// alive: a host had the experiment's lock at the last Refresh.
	alive bool
	// runsOn is the machine on which a host is at work, where that is another one.
	runsOn string
	// elsewhere is the place of a part of the directory, where this is a copy.
	elsewhere func(part string) string
}

// Open reads the experiment in a directory. Errors: [runfile.ErrNone] where none
// is, journal.ErrCorrupt where the record is damaged (B-086).
func Open(dir string) (*Experiment, error) {
	d, err := storage.At(dir)
	if err != nil {
		return nil, err
	}
	run, c, err := runfile.Read(d)
	if err != nil {
		return nil, err
	}
	e := &Experiment{dir: d, run: run, config: c, replay: unread()}
	if _, err = e.Refresh(); err == nil && !e.alive {
		err = e.verify()
	}
	if err != nil {
		_ = e.Close()
		return nil, err
	}
	return e, nil
}

// verify tells damage from a torn end, which a reader of a growing journal
// cannot (B-086), and another run's journal from this one's.
func (e *Experiment) verify() error {
	if !e.replay.there {
		return nil
	}
	id, err := e.run.ID()
	if err != nil {
		return err
	}
	if _, err = history.Verify(e.dir.Journal(), id); errors.Is(err, journal.ErrNoJournal) {
		return nil
	}
	return err
}

// Is says whether an experiment is in the directory.
func Is(dir string) bool {
	d, err := storage.At(dir)
	return err == nil && d.Exists()
}

// Refresh reads what was recorded since, and says whether there was anything.
func (e *Experiment) Refresh() (changed bool, err error) {
	// Asked first: a host that ends meanwhile has recorded its end.
	was := e.alive
	held, err := journal.Holder(e.dir.Path())
	if err != nil {
		return false, err
	}
	e.alive = held != nil
	n, err := e.read()
	rewound := errors.Is(err, journal.ErrRewound)
	if rewound {
		// A crash took back what was read: from the beginning.
		if err = e.Close(); err == nil {
			n, err = e.read()
		}
	}
	if err != nil {
		return false, err
	}
	return n > 0 || rewound || was != e.alive, nil
}

func (e *Experiment) read() (int, error) {
	if !e.replay.there {
		r, err := newReplay(e.dir)
		if err != nil {
			return 0, err
		}
		e.replay = r
	}
	return e.replay.read()
}

// Close lets go of the directory; what was read is gone.
func (e *Experiment) Close() error {
	r := e.replay
	e.replay = unread()
	return r.Close()
}

// Dir is the experiment's directory.
func (e *Experiment) Dir() storage.Dir { return e.dir }

// Name is the experiment's name.
func (e *Experiment) Name() string { return e.run.Name }

// Seed is what every random choice came from.
func (e *Experiment) Seed() uint64 { return e.run.Seed }

// Config is the experiment file as it was recorded.
func (e *Experiment) Config() *config.Experiment { return e.config }

// Machine is the experiment as it stands: look, and apply nothing.
func (e *Experiment) Machine() *core.Machine { return e.replay.machine }

// Find is the trial that a user names by number or id.
func (e *Experiment) Find(text string) (core.TrialNo, error) {
	no, err := naming.Find(text, e.run.Seed, e.replay.machine.Trials())
	return core.TrialNo(no), err
}

// Elsewhere says that the directory is a copy of the record alone, soon to be removed.
// What is said of places is then at(part): of the experiment with part "", of a trial
// "trials/NAME". Nothing is said of checkpoints and models, which are not there.
func (e *Experiment) Elsewhere(at func(part string) string) { e.elsewhere = at }

// IsElsewhere says whether this is a copy of an experiment that is elsewhere.
func (e *Experiment) IsElsewhere() bool { return e.elsewhere != nil }

// RunsOn names the other machine on which a host is at work; "" where none is.
func (e *Experiment) RunsOn(machine string) { e.runsOn = machine }

// Place is where the experiment is, for people: a directory, or what Elsewhere says.
func (e *Experiment) Place() string {
	if e.elsewhere != nil {
		return e.elsewhere("")
	}
	return e.dir.Path()
}

// trialPlace is Place for a trial.
func (e *Experiment) trialPlace(no core.TrialNo) string {
	dir := e.TrialDir(no)
	if e.elsewhere != nil {
		return e.elsewhere("trials/" + filepath.Base(dir))
	}
	return dir
}

// TrialDir is a trial's directory, of several the last.
func (e *Experiment) TrialDir(no core.TrialNo) string {
	return e.trialDir(no, e.replay.machine.Dirs(no))
}

func (e *Experiment) trialDir(no core.TrialNo, moved int) string {
	return e.dir.Trial(naming.Dir(e.config, e.run.Seed, uint32(no), e.replay.machine.FirstParams(no), moved))
}

// CheckpointDir is where a checkpoint lies, which must be a trial's.
func (e *Experiment) CheckpointDir(ref core.CheckpointRef) string {
	return storage.CheckpointDir(e.trialDir(ref.Trial, e.replay.machine.DirOf(ref.Trial, ref.ID)), ref.ID)
}

// Changed is when something was recorded last.
func (e *Experiment) Changed() time.Time {
	last := e.run.Created
	files, err := nolink.ReadDir(e.dir.Journal())
	if err != nil {
		return last
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}
