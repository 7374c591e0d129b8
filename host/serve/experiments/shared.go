package experiments

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/steer/unixsock"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/remote"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/journalview"
)

// Shared is an experiment that all readers share: its record is read once. It is safe
// for concurrent use.
type Shared struct {
	*view.Experiment
	// ID names it in URLs.
	ID string

	record *view.Recorded
	tail   *journalview.Tail
	file   os.FileInfo // of run.json
	dir    string

	once   sync.Once
	opened error
	// begun says that the record is read.
	begun atomic.Bool
	runs  atomic.Bool
	// weight estimates the memory that it takes, in bytes.
	weight atomic.Int64

	mu   sync.Mutex
	read time.Time
	err  error // of the last refresh
	// whole are the files of the record that were found to be whole; "": a host wrote it then.
	whole string

	users
	watching
	choosing
	tours tours
}

// users are counted by the catalog.
type users struct {
	n    int
	last time.Time
	gone bool // it was closed
}

var _ view.Remembering = (*Shared)(nil)

// begin reads the experiment.
func (s *Shared) begin(p place) error {
	whole := filesOf(p.dir)
	s.tail = journalview.NewTail()
	r, err := view.OpenFollowed(p.dir, s.tail.After)
	if p.copied {
		err = remote.Named(err, p.dir, p.url)
	}
	if err != nil {
		return err
	}
	s.record, s.read = r, time.Now()
	if !r.Running() {
		s.whole = whole // OpenFollowed has looked
	}
	s.runs.Store(r.Running())
	s.weigh()
	s.Experiment = view.New(r.Facts, s)
	s.tours.open = s.eventLog
	if p.copied {
		s.Elsewhere(func(part string) string { return mirror.Join(p.url, part) })
		s.RunsOn(p.machine)
	}
	s.begun.Store(true)
	return nil
}

// stamp changes with the experiment's settings, and if another experiment takes its place. It is an error if a file has
// gone without which nobody could open the experiment: what is known of it would look sound.
func stamp(dir string) (os.FileInfo, error) {
	info, err := os.Lstat(filepath.Join(dir, "run.json"))
	_, without := os.Lstat(filepath.Join(dir, "experiment.yaml"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(without, fs.ErrNotExist) {
		d, err := storage.At(dir)
		if err == nil {
			err = runfile.Missing(d)
		}
		return nil, err
	}
	return info, usererror.Wrap(err)
}

func same(a, b os.FileInfo) bool { return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) }

// Look implements view.Source.
func (s *Shared) Look(f func(*view.State)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.record.Now())
	return nil
}

// Recall implements view.Remembering.
func (s *Shared) Recall(f func(*view.State, *view.Past)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.record.Now(), s.record.Past())
	return nil
}

// Entries reads some entries of the record, as journalview.Page does.
func (s *Shared) Entries(w journalview.Wanted) ([]*journalview.Entry, uint64, error) {
	list, next, ok := s.recent(w)
	var err error
	if !ok {
		list, next, err = journalview.Page(s.Dir, w)
	}
	journalview.Explain(s.Dir, list...)
	return list, next, err
}

func (s *Shared) recent(w journalview.Wanted) ([]*journalview.Entry, uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail.Page(s.record.Now().Machine, w)
}

// Past implements view.Source.
func (s *Shared) Past() (*history.History, error) { return history.Open(s.Dir.Journal()) }

// Running implements view.Source. It is also called while a Look is under way.
func (s *Shared) Running() bool { return s.runs.Load() }

// Version changes with everything that is recorded and set; "": a host runs the experiment, in which time passes.
func (s *Shared) Version() (v string) {
	if s.Running() {
		return ""
	}
	_ = s.Look(func(now *view.State) {
		v = fmt.Sprint(s.file.ModTime().UnixNano(), now.Entries())
	})
	return v
}

// Runs reports whether a host runs the experiment now.
func (s *Shared) Runs() bool { return s.refresh(time.Now()) == nil && s.Experiment.Running() }

// Host returns what carries out requests in the host that runs the experiment, until done is called.
func (s *Shared) Host() (h steer.Handler, done func(), err error) {
	c, err := unixsock.Dial(s.Dir)
	if err != nil {
		return nil, nil, err
	}
	return c, func() { _ = c.Close() }, nil
}

// Taken is the error of an experiment that another process has.
func (s *Shared) Taken() error {
	held, err := journal.Holder(s.Dir.Path())
	if err != nil || held == nil || held.PID == 0 {
		return fmt.Errorf("%s: a host of it is just starting or ending: try again in a moment", s.ID)
	}
	return fmt.Errorf("%s: process %d on %s has the experiment: if it is another `tunehost serve`, "+
		"open the URL that that one has printed, or send the request there; otherwise try again in a moment",
		s.ID, held.PID, held.Host)
}

// Trains reports whether a trial may still print something, as far as is known.
func (s *Shared) Trains(no core.TrialNo) bool {
	runs := s.Running() // asked first: what it prints before it ends is there
	t, err := s.Trial(no)
	return err == nil && runs && !t.State.Final()
}

// refresh reads what was recorded since the last time, unless somebody else has done so since now.
func (s *Shared) refresh(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read.After(now) {
		return s.err
	}
	s.read = time.Now()
	if _, s.err = s.record.Refresh(); s.err == nil {
		s.err = s.examine()
	}
	s.runs.Store(s.record.Running())
	s.weigh()
	return s.err
}

// examine looks for damage where nobody writes, and something has changed: a reader that continues does not see it.
func (s *Shared) examine() error {
	if s.record.Running() {
		s.whole = ""
		return nil
	}
	files := filesOf(s.record.Dir.Path())
	if files == s.whole {
		return nil
	}
	err := s.record.Verify()
	if err == nil {
		s.whole = files
	}
	return err
}

// perTrial is about how much memory a trial takes in the machine, in bytes.
const perTrial = 500

func (s *Shared) weigh() {
	s.weight.Store(s.record.Past().Bytes() + s.tail.Bytes() + perTrial*int64(s.record.Count()))
}

func (s *Shared) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.record != nil {
		_ = s.record.Close() // open for reading only
	}
}
