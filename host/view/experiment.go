package view

import (
	"errors"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
)

// Source is where an experiment is read from: its directory, or the host that runs it.
type Source interface {
	// Look calls f with the experiment as it is between two events. A host's loop waits for f, so that f
	// must not block and must return soon. Of the machine it may keep only what View and Params return. An
	// error means that f was not called.
	Look(f func(*State)) error
	// Past opens the record at its beginning; it may be growing. The caller closes it.
	// journal.ErrNoJournal: there is none yet.
	Past() (*history.History, error)
	// Running reports whether a host runs the experiment.
	Running() bool
}

// Experiment is an experiment to read, whether a host runs it or not.
type Experiment struct {
	*Facts
	source Source
}

// New returns an experiment that is read from a source; see [Open] for one in a directory.
func New(f *Facts, s Source) *Experiment { return &Experiment{f, s} }

// Running reports whether a host runs it, on this machine or another.
func (e *Experiment) Running() bool { return e.source.Running() || e.runsOn != "" }

// RunsOn sets the other machine whose host runs the experiment; "" for none.
func (e *Experiment) RunsOn(machine string) { e.runsOn = machine }

// Elsewhere says that the directory is a temporary copy of the record alone. Places are then at(part):
// of the experiment with part "", of a trial "trials/NAME". Checkpoints and models are not in the copy
// and are not reported.
func (e *Experiment) Elsewhere(at func(part string) string) { e.elsewhere = at }

// Find returns the trial that a user names by number or id.
func (e *Experiment) Find(text string) (no core.TrialNo, err error) {
	failed := e.source.Look(func(s *State) { no, err = s.Find(text) })
	if failed != nil {
		return 0, failed
	}
	return no, err
}

// Trial returns a trial, which must exist.
func (e *Experiment) Trial(no core.TrialNo) (t Trial, err error) {
	err = e.source.Look(func(s *State) { t = s.Trial(no) })
	return t, err
}

// MetricNames returns the names that any trial has reported, sorted.
func (e *Experiment) MetricNames() (names []string, err error) {
	err = e.source.Look(func(s *State) { names = s.MetricNames() })
	return names, err
}

// Moment is an observation, with the experiment right after it.
type Moment struct {
	core.Observation
	Time  time.Time
	State *State
}

// Replay runs the record through a new machine from the beginning and calls f with all observations
// for reporters, in order. f may keep the metrics of a moment.
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

// walk reads the record from its beginning. f is called with each entry right after it was applied,
// with the experiment as it was then.
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
