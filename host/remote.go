package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/mirror"
	"github.com/tunehost/tunehost/host/runtimedir"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// remote is the storage of an experiment that is elsewhere (B-059): what is in its
// working directory is copied there while it runs.
type remote struct {
	// lock is the working directory's, until a session has it.
	lock    *journal.Lock
	store   *mirror.Store
	lease   *mirror.Lease
	mirror  *mirror.Mirror
	running *mirror.Running
	// fetched: another host, perhaps on another machine, was the last to go on with it.
	fetched bool
}

// firstLook is how long the beginning of an experiment waits for the storage, and
// lastCopy the end.
const (
	firstLook = 60 * time.Second
	lastCopy  = 60 * time.Second
)

// WorkingDir is where an experiment of a storage elsewhere is on this machine.
func WorkingDir(url string) (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%s: there is no place for a working directory: %w; set XDG_STATE_HOME", url, err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	_, name, err := mirror.Split(url)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(url))
	return filepath.Join(state, "tunehost", hex.EncodeToString(sum[:6]), name), nil
}

// attach takes an experiment of a storage elsewhere for this host. The working
// directory then has what there is of it: what this machine has, or, where another
// one has gone on with it since, what is in the storage.
func (o *Options) attach(ctx context.Context, url string, dir storage.Dir) (err error) {
	if err := o.mine(dir); err != nil {
		return err
	}
	if err := dir.Create(); err != nil {
		return &UserError{err}
	}
	r := &remote{}
	if r.lock, err = journal.LockDir(dir.Path(), time.Now()); err != nil {
		return &UserError{err}
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	owner, err := mirror.Owner(dir.Path())
	if err != nil {
		return err
	}
	if r.store, err = mirror.Open(ctx, url); err != nil {
		return &UserError{err}
	}
	if r.lease, err = mirror.Take(ctx, r.store, o.timing(), owner, o.tell); err != nil {
		return &UserError{err}
	}
	if err := r.lease.While(ctx, func(ctx context.Context) error { return o.bring(ctx, r, dir) }); err != nil {
		var held *mirror.HeldError
		if errors.As(err, &held) {
			return &UserError{err}
		}
		return err
	}
	r.mirror = mirror.New(r.store, r.lease, dir)
	o.remote = r
	return r.lease.Own(ctx, owner)
}

func (o *Options) tell(text string) {
	if o.Stderr != nil && o.Verbose > 0 {
		fmt.Fprintln(o.Stderr, text)
	}
}

func (o *Options) timing() mirror.Timing {
	if o.leases.Expire > 0 {
		return o.leases
	}
	return mirror.DefaultTiming
}

// bring makes the working directory what the experiment is.
func (o *Options) bring(ctx context.Context, r *remote, dir storage.Dir) error {
	there, err := r.store.Exists(ctx)
	if err != nil {
		return &UserError{err}
	}
	here := dir.Exists()
	switch {
	case o.Resume == "local" && !here:
		return userError("%s: this machine has nothing of it to go on with (--resume local); --resume remote goes on with what is in the storage", r.store.URL())
	case o.Resume == "local" && there && !r.lease.Ours:
		return userError("%s: another machine has gone on with it, so that what this one has is not of use any more (--resume local); --resume remote goes on with what is in the storage", r.store.URL())
	case o.Resume == "remote" && !there:
		return userError("%s: there is no experiment to go on with (--resume remote); leave --resume out to start one", r.store.URL())
	case !there, here && r.lease.Ours && o.Resume != "remote":
		return nil
	}
	if err := setAside(dir); err != nil {
		return err
	}
	r.fetched = true
	o.tell("fetching " + r.store.URL() + " to " + dir.Path())
	return mirror.Fetch(ctx, r.store, dir)
}

// setAside empties the working directory; what is there is kept beside it.
func setAside(dir storage.Dir) error {
	list, err := nolink.ReadDir(dir.Path())
	if err != nil {
		return err
	}
	aside := dir.Path() + time.Now().UTC().Format(".20060102T150405")
	for _, e := range list {
		if e.Name() == "LOCK" || e.Name() == mirror.OwnerFile {
			continue
		}
		if err := nolink.MkdirAll(aside, 0o700); err != nil {
			return err
		}
		if err := nolink.Rename(filepath.Join(dir.Path(), e.Name()), filepath.Join(aside, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// remakeTrials makes the directories of trials that ran on another machine, for what
// reporters write in them. Files of the trials' own did not come along.
func (s *session) remakeTrials() error {
	if s.remote == nil {
		return nil
	}
	for no := range core.TrialNo(s.machine.Trials()) {
		if s.machine.View(no).Attempt == 0 {
			continue
		}
		if err := s.dir.MakeTrialDir(s.trials.Dir(no), s.machine.Params(no)); err != nil {
			return err
		}
	}
	return nil
}

// start begins to copy.
func (r *remote) start(s *session) (err error) {
	if r == nil {
		return nil
	}
	record, ok := s.record.(mirror.Record)
	if !ok {
		return fmt.Errorf("%T cannot be copied", s.record)
	}
	ctx, cancel := context.WithTimeout(context.Background(), firstLook)
	defer cancel()
	r.running, err = r.mirror.Start(ctx, record, mirror.Listener{Warn: func(text string) { s.log.Warn(text) }, Lost: s.fail})
	return err
}

// finish copies the rest.
func (r *remote) finish(s *session) {
	if r == nil || r.running == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastCopy)
	defer cancel()
	if err := r.running.Close(ctx); err != nil {
		s.log.Warn(fmt.Sprintf("the last of what happened is in %s alone: %v; `tunehost resume %s` copies it", s.dir.Path(), err, s.dir.Path()))
	}
}

// locked hands over the lock of the working directory; nil where there is none.
func (r *remote) locked() (lock *journal.Lock) {
	if r != nil {
		lock, r.lock = r.lock, nil
	}
	return lock
}

// close lets go of the storage, and of the lock where no session has it.
func (r *remote) close() {
	if lock := r.locked(); lock != nil {
		defer func() { _ = lock.Unlock() }()
	}
	if r == nil || r.store == nil {
		return
	}
	if r.lease != nil && r.running == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = r.lease.Release(ctx) // else it expires
	}
	_ = r.store.Close()
}

// saved is told of whole checkpoints and exports.
func (r *remote) saved(dir string) {
	if r != nil {
		r.mirror.Saved(dir)
	}
}

// delete removes a checkpoint, and its copy before it.
func (r *remote) delete(dir string, remove func()) {
	if r == nil {
		remove()
		return
	}
	r.mirror.Delete(dir, remove)
}

// wake: something was recorded.
func (r *remote) wake() {
	if r != nil {
		r.mirror.Wake()
	}
}

// Fetch is an experiment of a storage elsewhere, for those who read it: the working
// directory where this machine runs it, else a copy of its record, which done
// removes.
func Fetch(ctx context.Context, url string) (dir string, done func(), err error) {
	if dir, err = WorkingDir(url); err != nil {
		return "", nil, &UserError{err}
	}
	s, err := mirror.OpenToRead(ctx, url)
	if err != nil {
		return "", nil, &UserError{noneThere(url, err)}
	}
	defer s.Close()
	working, err := storage.At(dir)
	if err != nil {
		return "", nil, &UserError{err}
	}
	if ours, err := s.LastFrom(ctx, working.Path()); err == nil && ours {
		return dir, func() {}, nil
	}
	copied, err := runtimedir.MakeLarge()
	if err != nil {
		return "", nil, err
	}
	done = func() { _ = copied.Remove() }
	d, err := storage.At(filepath.Join(copied.Path(), filepath.Base(dir)))
	if err == nil {
		err = mirror.FetchRecord(ctx, s, d)
	}
	if err != nil {
		done()
		return "", nil, &UserError{noneThere(url, err)}
	}
	return d.Path(), done, nil
}

// RunsOn is the machine on which an experiment of a storage elsewhere runs, as far as
// that can be told without waiting; "" where none does.
func RunsOn(ctx context.Context, url string) string {
	s, err := mirror.OpenToRead(ctx, url)
	if err != nil {
		return ""
	}
	defer s.Close()
	machine, err := s.HeldBy(ctx, mirror.DefaultTiming, time.Now())
	if err != nil {
		return "" // whoever reads the record hears of it
	}
	return machine
}

func noneThere(url string, err error) error {
	if errors.Is(err, mirror.ErrNone) {
		return fmt.Errorf("%s: there is no experiment here; `tunehost ls %s` shows those that there are", url, strings.TrimSuffix(url, "/"+filepath.Base(url)))
	}
	return err
}
