package view

import (
	"errors"

	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/runfile"
	"github.com/tunehost/tunehost/host/storage"
)

// Recorded is an experiment in a directory, as far as it was read. It is for one
// goroutine.
type Recorded struct {
	*Experiment
	at *directory
}

// State is [Experiment.State], which cannot go wrong here.
func (e *Recorded) State() string {
	state, _ := e.Experiment.State()
	return state
}

// directory is the Source of a Recorded.
type directory struct {
	facts *Facts
	run   *runfile.File
	// state is what the record's reader has come to.
	state *State
	there bool // there is a record
	// alive: a host had the experiment's lock at the last Refresh.
	alive bool
}

var _ Source = (*directory)(nil)

// Open reads the experiment in a directory. Errors: [runfile.ErrNone] where none
// is, journal.ErrCorrupt where the record is damaged (B-086).
func Open(dir string) (*Recorded, error) {
	d, err := storage.At(dir)
	if err != nil {
		return nil, err
	}
	run, c, err := runfile.Read(d)
	if err != nil {
		return nil, err
	}
	facts := &Facts{Name: run.Name, Seed: run.Seed, Config: c, Dir: d, Created: run.Created}
	at := &directory{facts: facts, run: run}
	at.forget()
	if _, err = at.refresh(); err == nil && !at.alive {
		err = at.verify()
	}
	if err != nil {
		_ = at.close()
		return nil, err
	}
	return &Recorded{New(facts, at), at}, nil
}

// Refresh reads what was recorded since, and says whether there was anything.
func (e *Recorded) Refresh() (changed bool, err error) { return e.at.refresh() }

// Close lets go of the directory; what was read is gone.
func (e *Recorded) Close() error { return e.at.close() }

// Now is the experiment as far as it was read: for looking.
func (e *Recorded) Now() *State { return e.at.state }

// verify tells damage from a torn end, which a reader of a growing journal
// cannot (B-086), and another run's journal from this one's.
func (d *directory) verify() error {
	if !d.there {
		return nil
	}
	id, err := d.run.ID()
	if err != nil {
		return err
	}
	if _, err = history.Verify(d.facts.Dir.Journal(), id); errors.Is(err, journal.ErrNoJournal) {
		return nil
	}
	return err
}

// Is says whether an experiment is in the directory.
func Is(dir string) bool {
	d, err := storage.At(dir)
	return err == nil && d.Exists()
}

func (d *directory) refresh() (changed bool, err error) {
	// Asked first: a host that ends meanwhile has recorded its end.
	was := d.alive
	held, err := journal.Holder(d.facts.Dir.Path())
	if err != nil {
		return false, err
	}
	d.alive = held != nil
	n, err := d.read()
	rewound := errors.Is(err, journal.ErrRewound)
	if rewound {
		// A crash took back what was read: from the beginning.
		if err = d.close(); err == nil {
			n, err = d.read()
		}
	}
	if err != nil {
		return false, err
	}
	return n > 0 || rewound || was != d.alive, nil
}

// read applies what is there, and returns how many records it was.
func (d *directory) read() (n int, err error) {
	if !d.there {
		h, err := d.Past()
		if err != nil {
			return 0, without(err)
		}
		d.state, d.there = NewState(d.facts, h), true
	}
	err = d.state.record.Each(func(x *history.Step) error {
		n++
		d.state.Noted(x.Actions)
		return nil
	})
	return n, err
}

// without is the error of opening a record, but that there may be none yet.
func without(err error) error {
	if errors.Is(err, journal.ErrNoJournal) {
		return nil
	}
	return err
}

func (d *directory) close() error {
	h := d.state.record
	d.forget()
	return h.Close()
}

func (d *directory) forget() { d.state, d.there = NewState(d.facts, history.New()), false }

// Look implements Source.
func (d *directory) Look(f func(*State)) error {
	f(d.state)
	return nil
}

// Past implements Source.
func (d *directory) Past() (*history.History, error) { return history.Open(d.facts.Dir.Journal()) }

// Running implements Source.
func (d *directory) Running() bool { return d.alive }
