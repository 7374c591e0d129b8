package view

import (
	"errors"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
)

// Source is where an experiment is read from: its directory, or the host that runs it.
type Source interface {
	// Look calls f with the experiment as it stands between two events. f reads, waits for
	// nothing, keeps nothing of the machine but what View and Params return, and returns
	// soon: a host's loop waits for it. An error means that f was not called.
	Look(f func(*State)) error
	// Past opens the record at its beginning; it may be growing. Whoever asks closes it.
	// journal.ErrNoJournal: there is none yet.
	Past() (*history.History, error)
	// Running says whether a host is at work.
	Running() bool
}

// Experiment is one experiment to look at, whether a host runs it or not.
type Experiment struct {
	*Facts
	source Source
}

// New is an experiment that is read from anywhere; see [Open] for one in a directory.
func New(f *Facts, s Source) *Experiment { return &Experiment{f, s} }

// Running says whether a host is at work, here or on another machine.
func (e *Experiment) Running() bool { return e.source.Running() || e.runsOn != "" }

// RunsOn names the other machine on which a host is at work; "" where none is.
func (e *Experiment) RunsOn(machine string) { e.runsOn = machine }

// Elsewhere says that the directory is a copy of the record alone, soon to be removed.
// What is said of places is then at(part): of the experiment with part "", of a trial
// "trials/NAME". Nothing is said of checkpoints and models, which are not there.
func (e *Experiment) Elsewhere(at func(part string) string) { e.elsewhere = at }

// Find is the trial that a user names by number or id.
func (e *Experiment) Find(text string) (no core.TrialNo, err error) {
	failed := e.source.Look(func(s *State) { no, err = s.Find(text) })
	if failed != nil {
		return 0, failed
	}
	return no, err
}

// Trial is a trial, which must exist.
func (e *Experiment) Trial(no core.TrialNo) (t Trial, err error) {
	err = e.source.Look(func(s *State) { t = s.Trial(no) })
	return t, err
}

// MetricNames are those that any trial has reported, sorted.
func (e *Experiment) MetricNames() (names []string, err error) {
	err = e.source.Look(func(s *State) { names = s.MetricNames() })
	return names, err
}

// Moment is something that the machine saw, with the experiment as it was right
// after.
type Moment struct {
	core.Observation
	Time  time.Time
	State *State
}

// Replay runs the record through a new machine from the beginning and tells f
// all that reporters heard, in order. Metrics in a moment are f's to keep.
func (e *Experiment) Replay(f func(Moment) error) error {
	return e.walk(func(s *State, x *history.Step) error {
		for o := range x.Observations(core.ToAll) {
			if err := f(Moment{o, s.wall(s.Machine.Now()), s}); err != nil {
				return err
			}
		}
		return nil
	})
}

// walk goes through the record from its beginning. f is told each entry right after it was
// applied, with the experiment as it was then.
func (e *Experiment) walk(f func(*State, *history.Step) error) error {
	h, err := e.source.Past()
	if err != nil {
		return without(err)
	}
	s := NewState(e.Facts, h)
	err = h.Each(func(x *history.Step) error {
		s.Noted(x.Actions)
		return f(s, x)
	})
	return errors.Join(err, h.Close())
}
