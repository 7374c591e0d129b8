package view

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
)

// Recorded is an experiment in a directory, as far as it was read. It is for one
// goroutine.
type Recorded struct {
	*Experiment
	at *directory
}

// State is [Experiment.State], which cannot fail here.
func (e *Recorded) State() string {
	state, _ := e.Experiment.State()
	return state
}

// These methods answer as an [Experiment] does; for a directory they cannot fail.

// Count returns how many trials there are.
func (e *Recorded) Count() int { return e.at.state.Trials() }

// Trial returns a trial, which must exist.
func (e *Recorded) Trial(no core.TrialNo) Trial { return e.at.state.Trial(no) }

// Brief returns a trial without the places of its files, which cost the most.
func (e *Recorded) Brief(no core.TrialNo) Trial { return e.at.state.Brief(no) }

// TrialDir returns a trial's directory, of several the last.
func (e *Recorded) TrialDir(no core.TrialNo) string { return e.at.state.TrialDir(no) }

// MetricNames returns the names that any trial has reported, sorted.
func (e *Recorded) MetricNames() []string { return e.at.state.MetricNames() }

// Rows returns trials in brief, at most so many of each state.
func (e *Recorded) Rows(perState int) []Trial { return e.at.state.Rows(perState) }

// directory is the Source of a Recorded.
type directory struct {
	facts *Facts
	run   *runfile.File
	// state is the state after what was read.
	state *State
	there bool // there is a record
	// alive: a host had the experiment's lock at the last Refresh.
	alive bool
	// followed says that Refresh counts events; feed is nil until somebody asks for it.
	followed bool
	// hosts is how many hosts have taken over the experiment.
	hosts   uint64
	feed    *Feed
	builder *EventBuilder
	events  []Event // for the feed
	// also is called with each entry that is read; nil: nothing is.
	also func(*history.Step)
	// past is kept with the feed: it is for readers that ask again and again.
	past *Past
}

var _ Source = (*directory)(nil)

// Newer reports whether an experiment cannot be read because a newer tunehost wrote its record.
func Newer(err error) bool { return history.Newer(err) }

// Open reads the experiment in a directory. Errors: [runfile.ErrNone] if there is none,
// journal.ErrCorrupt if the record is damaged (B-086).
func Open(dir string) (*Recorded, error) { return open(dir, false, nil) }

// OpenFollowed is Open for a reader that also needs the events that Refresh reads: see [Recorded.Feed]. It calls also,
// which may be nil, with each entry that is read; from the first one again, if a crash has removed some.
func OpenFollowed(dir string, also func(*history.Step)) (*Recorded, error) {
	return open(dir, true, also)
}

func open(dir string, followed bool, also func(*history.Step)) (*Recorded, error) {
	d, err := storage.At(dir)
	if err != nil {
		return nil, err
	}
	run, c, err := runfile.Read(d)
	if err != nil {
		return nil, err
	}
	facts := &Facts{Name: run.Name, Seed: run.Seed, Config: c, Dir: d, Created: run.Created, run: run}
	at := &directory{facts: facts, run: run, followed: followed, also: also}
	at.forget()
	if _, err = at.refresh(); err == nil && !at.alive {
		err = at.verify()
	}
	if err == nil {
		err = runfile.Agree(d, run, c, at.state.Machine.Spec())
	}
	if err != nil {
		_ = at.close()
		return nil, err
	}
	return &Recorded{New(facts, at), at}, nil
}

// Feed returns the feed of the events that Refresh reads from the first call on, for [OpenFollowed]: all readers of
// [Experiment.Follow] share one reader of the record. Earlier events are only in the record. The feed ends if a crash
// has removed records that were read; then the next call returns another feed. It is nil before there is a record.
func (e *Recorded) Feed() *Feed { return e.at.follow() }

// LastEvent returns at least the number of the last event; 0 before there is a record.
func (e *Recorded) LastEvent() uint64 { return e.at.state.Machine.Observations() + e.at.hosts }

// Alive reports whether a host had the experiment at the last Refresh.
func (e *Recorded) Alive() bool { return e.at.alive }

// Refresh reads new records, and reports whether there were any.
func (e *Recorded) Refresh() (changed bool, err error) { return e.at.refresh() }

// Verify checks the whole record again if no host writes it: Refresh reads what was added, and does not notice what
// somebody has changed before that (B-086).
func (e *Recorded) Verify() error {
	if e.at.alive {
		return nil
	}
	return e.at.verify()
}

// Close closes the directory and forgets the records.
func (e *Recorded) Close() error { return e.at.close() }

// Now returns the experiment as far as it was read, read-only.
func (e *Recorded) Now() *State { return e.at.state }

// Past returns what has happened so far, for [OpenFollowed].
func (e *Recorded) Past() *Past { return e.at.past }

// verify distinguishes damage from a torn end, which a reader of a growing journal cannot (B-086), and
// another run's journal from this one's.
// Without the experiment's file, a host has died before it began.
func (d *directory) verify() error {
	if !d.there && !d.facts.Dir.Exists() {
		return nil
	}
	id, err := d.run.ID()
	if err != nil {
		return err
	}
	_, err = history.Verify(d.facts.Dir.Journal(), id)
	return err
}

// Is reports whether an experiment is in the directory, or what is left of one that has lost its file.
func Is(dir string) bool {
	d, err := storage.At(dir)
	return err == nil && (d.Exists() || runfile.Lost(d))
}

// CheckListed returns why an experiment that a folder lists, and nobody has named, is not read: it is a link of
// another user.
func CheckListed(dir string) error { return storage.CheckLink(dir) }

// Hidden reports whether an experiment may be in the directory, which this user may not read, or which is a link that
// is not followed.
func Hidden(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "experiment.yaml"))
	if err == nil {
		_, err = storage.At(dir)
	}
	return err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

func (d *directory) refresh() (changed bool, err error) {
	// This comes first: a host that ends in the meantime has recorded its end.
	was := d.alive
	held, err := journal.Holder(d.facts.Dir.Path())
	if err != nil {
		return false, err
	}
	d.alive = held != nil
	n, err := d.read()
	rewound := errors.Is(err, journal.ErrRewound)
	if rewound {
		// A crash removed records that were read: start from the beginning.
		if err = d.close(); err == nil {
			n, err = d.read()
		}
	}
	if err != nil {
		return false, err
	}
	d.state.left = !d.alive
	return n > 0 || rewound || was != d.alive, nil
}

// read applies the available records, and returns their number.
func (d *directory) read() (n int, err error) {
	if !d.there {
		h, err := d.Past()
		if err != nil {
			return 0, without(err)
		}
		h.Reuse()
		d.state, d.there = NewState(d.facts, h), true
		if d.followed {
			d.builder = NewEventBuilder(h.Machine(), NewSubjects(d.state).Of)
		}
	}
	err = d.state.record.Each(func(x *history.Step) error {
		n++
		d.state.Noted(x.Actions)
		if _, ok := x.Event.(*core.HostStarted); ok {
			d.hosts++
		}
		if d.followed {
			d.past.after(d.state, x)
			d.publish(x)
		}
		if d.also != nil {
			d.also(x)
		}
		return nil
	})
	d.flush()
	return n, err
}

// publish puts the events of an entry into the feed. Until somebody asks for the feed they are only counted: most
// experiments that a server shows have nobody who follows their events.
func (d *directory) publish(x *history.Step) {
	if d.feed == nil {
		d.builder.Hear(x, math.MaxUint64, nil)
		return
	}
	d.builder.Hear(x, 0, func(e Event) { d.events = append(d.events, e) })
	if len(d.events) >= mostEvents {
		d.flush()
	}
}

// follow returns the feed, which begins after what was read before the first call.
func (d *directory) follow() *Feed {
	if d.feed == nil && d.there && d.followed {
		d.feed = NewFeed(d.builder.Last())
	}
	return d.feed
}

// flush puts the last events into the feed.
func (d *directory) flush() {
	if d.feed != nil {
		d.feed.Put(d.events)
		d.events = d.events[:0]
	}
}

// without returns the error of opening a record, unless it says that there is none yet.
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

func (d *directory) forget() {
	d.state, d.there, d.hosts = NewState(d.facts, history.New()), false, 0
	if d.feed != nil {
		d.feed.End()
	}
	d.feed, d.events, d.past = nil, nil, newPast()
}

// Look implements Source.
func (d *directory) Look(f func(*State)) error {
	f(d.state)
	return nil
}

// Past implements Source.
func (d *directory) Past() (*history.History, error) { return history.Open(d.facts.Dir.Journal()) }

// Running implements Source.
func (d *directory) Running() bool { return d.alive }
