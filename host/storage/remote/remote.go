// Package remote connects an experiment to a storage that is not on this machine (B-059):
// what is in its working directory is copied there while it runs.
package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/runtimedir"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/usererror"
)

// Storage is the storage of one experiment. A nil Storage is that of an experiment that is on
// this machine only.
type Storage struct {
	// lock is the working directory's, until a session takes it.
	lock    *journal.Lock
	dir     storage.Dir
	store   *mirror.Store
	lease   *mirror.Lease
	mirror  *mirror.Mirror
	running *mirror.Running
	fetched bool
	empty   bool // nothing is in the store: an experiment begins
	doubts  []string
}

// Options say how an experiment is attached.
type Options struct {
	// Resume is local or remote where the user wants that copy, else anything.
	Resume string
	// TrustDir allows a working directory and a shared directory that other users can change.
	TrustDir bool
	// Timing of the lease; the zero value is mirror.DefaultTiming.
	Timing mirror.Timing
	// Tell shows a text to the user.
	Tell func(text string)
}

// firstLook is how long the start of an experiment waits for the storage, and lastCopy how
// long its end waits.
const (
	firstLook = 60 * time.Second
	lastCopy  = 60 * time.Second
	// unsaid is how long it waits without a word.
	unsaid = 5 * time.Second
)

// WorkingDir is the directory on this machine of an experiment that is stored at url. It is the same for other
// spellings of the URL, unless an earlier version of tunehost has made one for this spelling alone.
func WorkingDir(url string) (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%s: there is no place for a working directory: %w; set XDG_STATE_HOME", url, err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	if _, _, err := mirror.Split(url); err != nil {
		return "", err
	}
	dir := workingDir(state, mirror.Canonical(url))
	if earlier := workingDir(state, url); !exists(dir) && exists(earlier) {
		return earlier, nil
	}
	return dir, nil
}

func workingDir(state, url string) string {
	sum := sha256.Sum256([]byte(url))
	return filepath.Join(state, "tunehost", hex.EncodeToString(sum[:6]), mirror.Name(url))
}

func exists(path string) bool {
	_, err := nolink.Lstat(path)
	return err == nil
}

// Attach takes the experiment at url for this host. The working directory then has its newest
// state: that of this machine, or that of the storage where another machine has gone on since.
func Attach(ctx context.Context, url string, dir storage.Dir, o Options) (r *Storage, err error) {
	if err := cmp.Or(dir.CheckOwn(), apart(url, dir)); err != nil {
		return nil, usererror.Wrap(err)
	}
	if err := dir.Usable(o.TrustDir); err != nil {
		return nil, err
	}
	doubts, err := usable(url, o.TrustDir)
	if err != nil {
		return nil, err
	}
	_, err = nolink.Lstat(dir.Path())
	made := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir.Path(), 0o700); err != nil {
		return nil, usererror.Errorf("%s: the experiment's working directory cannot be made: %w; set XDG_STATE_HOME "+
			"to a folder that can be written to", dir.Path(), err)
	}
	if err := dir.Create(); err != nil {
		return nil, usererror.Wrap(err)
	}
	r = &Storage{dir: dir, doubts: doubts}
	if r.lock, err = journal.LockDir(dir.Path(), time.Now()); err != nil {
		return nil, usererror.Wrap(err)
	}
	if err := r.take(ctx, url, o); err != nil {
		if made && r.lease == nil {
			r.leaveNothing()
		}
		r.Close()
		return nil, err
	}
	return r, nil
}

// apart refuses a shared directory that is an experiment's own: this one's working directory, perhaps by another path,
// or one that has it inside or is inside of it, or that of another experiment.
func apart(url string, dir storage.Dir) error {
	path, ok := mirror.Directory(url)
	if !ok {
		return nil
	}
	if !storage.Overlaps(path, dir.Path()) {
		return storage.CheckStore(path)
	}
	return fmt.Errorf("%s overlaps %s, the experiment's working directory on this machine: set XDG_STATE_HOME to a "+
		"folder outside of it", url, dir.Path())
}

// usable refuses a shared directory in which another user could change what runs, unless the user trusts it: the
// experiment there says which programs run. An object store has no owner.
func usable(url string, trust bool) (doubts []string, err error) {
	path, ok := mirror.Directory(url)
	if !ok {
		return nil, nil
	}
	d, err := storage.At(path)
	if err != nil {
		return nil, storage.Unusable(err)
	}
	return d.StoreUsable(trust)
}

// Doubts are warnings about the storage: about one that the user trusts, whose remains are
// replaced, or whose checkpoints are damaged.
func (r *Storage) Doubts() []string { return r.doubts }

// leaveNothing removes the working directory that was made for a storage which cannot be used. The lock is still held.
func (r *Storage) leaveNothing() {
	for _, name := range []string{"trials", mirror.OwnerFile, "LOCK", ""} {
		_ = nolink.Remove(filepath.Join(r.dir.Path(), name)) // what is not empty stays
	}
	_ = nolink.Remove(filepath.Dir(r.dir.Path()))
}

// take leases the storage and fetches what is newer there.
func (r *Storage) take(ctx context.Context, url string, o Options) error {
	owner, err := mirror.Owner(r.dir.Path())
	if err != nil {
		return err
	}
	if r.store, err = mirror.Open(ctx, url); err != nil {
		return usererror.Wrap(err)
	}
	if err := mirror.Remember(r.dir.Path(), url); err != nil {
		return err
	}
	if o.Timing.Expire == 0 {
		o.Timing = mirror.DefaultTiming
	}
	if r.lease, err = mirror.Take(ctx, r.store, o.Timing, owner, o.Tell); err != nil {
		return usererror.Wrap(err)
	}
	if r.lease.New { // the lease was lost, unless the store is empty: the record tells who is ahead
		if r.lease.SameDir, err = r.store.Precedes(ctx, r.dir); err != nil {
			return usererror.Wrap(err)
		}
	}
	if err := r.lease.While(ctx, func(ctx context.Context) error { return r.update(ctx, o) }); err != nil {
		if _, ok := errors.AsType[*mirror.HeldError](err); ok {
			return usererror.Wrap(err)
		}
		return err
	}
	r.mirror = mirror.New(r.store, r.lease, r.dir)
	r.mirror.Fetched = r.fetched
	return r.lease.Own(ctx, owner, r.empty)
}

// update brings the working directory to the newest state.
func (r *Storage) update(ctx context.Context, o Options) error {
	there, err := r.store.Exists(ctx)
	if err != nil {
		return usererror.Wrap(err)
	}
	here := r.dir.Exists()
	if !there {
		if err := r.remains(ctx, here && r.lease.SameDir); err != nil {
			return err
		}
	}
	if there && here && o.Resume != "remote" {
		if err := r.same(ctx); err != nil {
			return err
		}
	}
	switch {
	case o.Resume == "local" && !here:
		return usererror.Errorf("%s: this machine has no copy to resume (--resume local); --resume remote "+
			"resumes the copy in the storage", r.store.URL())
	case o.Resume == "local" && there && !r.lease.SameDir:
		return usererror.Errorf("%s: another machine has continued it since, so the copy on this machine is out "+
			"of date (--resume local); --resume remote resumes the copy in the storage", r.store.URL())
	case o.Resume == "remote" && !there:
		return usererror.Errorf("%s: there is no experiment to resume (--resume remote); leave --resume out to "+
			"start one",
			r.store.URL())
	case !there, here && r.lease.SameDir && o.Resume != "remote":
		return nil
	}
	aside, err := setAside(r.dir)
	if err != nil {
		return err
	}
	if aside != "" {
		o.Tell("the copy on this machine is kept in " + aside)
	}
	r.fetched = true
	o.Tell("fetching " + r.store.URL() + " to " + r.dir.Path())
	err = mirror.Fetch(ctx, r.store, r.dir)
	if errors.Is(err, mirror.ErrNone) {
		err = fmt.Errorf("the experiment was removed while it was fetched: %w; put it back from a copy", err)
	}
	if lacks := r.store.Lacks(); lacks != "" {
		r.doubts = append(r.doubts, lacks)
	}
	return usererror.Wrap(err)
}

// remains decides whether an experiment may begin in a store without one. If the store has lost only the experiment's
// file, ours says that this machine puts it back.
func (r *Storage) remains(ctx context.Context, ours bool) error {
	err := r.store.Lost(ctx)
	r.empty = err == nil
	if first, ok := errors.AsType[*mirror.FirstRoundError](err); ok {
		if ours {
			return nil
		}
		r.doubts = append(r.doubts, fmt.Sprintf("%s: %s died in its first round of copying: what it had copied is "+
			"replaced, and what it had recorded is on that machine alone", first.URL, first.Host))
		r.empty = true
		return nil
	}
	if _, gone := errors.AsType[*mirror.GoneError](err); ours && gone {
		return nil
	}
	return usererror.Wrap(err)
}

// same refuses a store with another experiment than the one here: it was put in its place, or that of this machine was.
func (r *Storage) same(ctx context.Context) error {
	same, err := r.store.Same(ctx, r.dir.Path())
	if err != nil || same {
		return usererror.Wrap(err)
	}
	return usererror.Errorf("%s has another experiment than %s, this machine's copy: it was put in its place; "+
		"--resume remote continues the one in the storage, and keeps this machine's beside it; another --name begins "+
		"a new one", r.store.URL(), r.dir.Path())
}

// setAside moves the content of the working directory to a directory beside it; "" if it has none. A working directory
// that was just made has a folder for trials.
func setAside(dir storage.Dir) (aside string, err error) {
	list, err := nolink.ReadDir(dir.Path())
	if err != nil {
		return "", err
	}
	beside := dir.Path() + time.Now().UTC().Format(".20060102T150405")
	for _, e := range list {
		path := filepath.Join(dir.Path(), e.Name())
		if e.Name() == "LOCK" || e.Name() == mirror.OwnerFile || path == dir.Trials() && nolink.Remove(path) == nil {
			continue
		}
		aside = beside
		if err := nolink.MkdirAll(aside, 0o700); err != nil {
			return aside, err
		}
		if err := nolink.Rename(path, filepath.Join(aside, e.Name())); err != nil {
			return aside, err
		}
	}
	return aside, nil
}

// URL is where the storage is; "" if there is none.
func (r *Storage) URL() string {
	if r == nil {
		return ""
	}
	return r.store.URL()
}

// Explain adds to an error about what was fetched where it came from.
func (r *Storage) Explain(err error) error {
	if err == nil || !r.Fetched() {
		return err
	}
	return fmt.Errorf("%w (it is as it was fetched from %s: mend it there, and then run with --resume remote)", err,
		r.URL())
}

// Fetched reports whether another host, perhaps on another machine, was the last to run it.
func (r *Storage) Fetched() bool { return r != nil && r.fetched }

// Start begins to copy record, which must be a [mirror.Record], and what belongs to it.
func (r *Storage) Start(record any, l mirror.Listener) (err error) {
	if r == nil {
		return nil
	}
	x, ok := record.(mirror.Record)
	if !ok {
		return fmt.Errorf("%T cannot be copied", record)
	}
	ctx, cancel := context.WithTimeout(context.Background(), firstLook)
	defer cancel()
	r.running, err = r.mirror.Start(ctx, x, l)
	return err
}

// Finish copies the rest. What cannot be copied it says to warn.
func (r *Storage) Finish(warn func(string)) {
	if r == nil || r.running == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastCopy)
	defer cancel()
	late := time.AfterFunc(unsaid, func() {
		warn("waiting up to a minute for " + r.store.URL() + " to take the last of what happened")
	})
	defer late.Stop()
	to, _, _ := strings.Cut(r.store.URL(), "?")
	_ = r.dir.NoteLeaving(fmt.Sprintf("copies the last of it to %q", to), time.Now().Add(lastCopy))
	defer func() { _ = r.dir.NoteLeaving("", time.Time{}) }()
	if err := r.running.Close(ctx); err != nil {
		warn(fmt.Sprintf("the last of what happened is in %s alone: %v; `tunehost resume %s` copies it",
			r.dir.Path(), err, untrusted.Word(r.dir.Path())))
	}
}

// TakeLock hands over the lock of the working directory; nil where it was handed over before.
func (r *Storage) TakeLock() (lock *journal.Lock) {
	if r != nil {
		lock, r.lock = r.lock, nil
	}
	return lock
}

// Close releases the storage, and the lock unless it was handed over.
func (r *Storage) Close() {
	if lock := r.TakeLock(); lock != nil {
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

// Saved copies a whole checkpoint or export.
func (r *Storage) Saved(dir string) {
	if r != nil {
		r.mirror.Saved(dir)
	}
}

// Nodes is the place for the checkpoints that nodes write to the storage themselves; nil if there is no storage.
func (r *Storage) Nodes() *mirror.Nodes {
	if r == nil {
		return nil
	}
	return r.mirror.Nodes
}

// Bring fetches the files of a checkpoint that are in the storage alone (see [mirror.Nodes]).
func (r *Storage) Bring(ctx context.Context, checkpoint string) error {
	if r == nil {
		return nil
	}
	return r.mirror.Nodes.Bring(ctx, checkpoint)
}

// Delete deletes the copy of a checkpoint and then calls remove, which deletes the checkpoint.
func (r *Storage) Delete(dir string, remove func()) {
	if r == nil {
		remove()
		return
	}
	r.mirror.Delete(dir, remove)
}

// Wake says that something was recorded.
func (r *Storage) Wake() {
	if r != nil {
		r.mirror.Wake()
	}
}

// Fetch returns a directory from which the experiment at url can be read: the working directory
// where this machine was the last to run it, else a copy of its record. done removes the copy.
func Fetch(ctx context.Context, url string) (dir string, done func(), err error) {
	if dir, err = WorkingDir(url); err != nil {
		return "", nil, usererror.Wrap(err)
	}
	if RunsHere(dir) {
		return dir, func() {}, nil
	}
	s, err := mirror.OpenToRead(ctx, url)
	if err != nil {
		return "", nil, usererror.Wrap(noneThere(url, err))
	}
	defer s.Close()
	working, err := storage.At(dir)
	if err != nil {
		return "", nil, usererror.Wrap(err)
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
		return "", nil, usererror.Wrap(noneThere(url, err))
	}
	return d.Path(), done, nil
}

// FetchCheckpoint fetches a checkpoint of the experiment at url to this machine, beside where its working directory is
// or would be, and returns the folder of its files. part is the checkpoint's path in the experiment's directory.
func FetchCheckpoint(ctx context.Context, url, part string) (files string, err error) {
	working, err := WorkingDir(url)
	if err != nil {
		return "", usererror.Wrap(err)
	}
	d, err := storage.At(working + ".checkpoints")
	if err != nil {
		return "", usererror.Wrap(err)
	}
	s, err := mirror.OpenToRead(ctx, url)
	if err != nil {
		return "", usererror.Wrap(noneThere(url, err))
	}
	defer s.Close()
	err = mirror.FetchCheckpoint(ctx, s, d, filepath.ToSlash(part))
	if lacks := s.Lacks(); lacks != "" {
		err = errors.New(lacks)
	}
	return storage.FilesOf(filepath.Join(d.Path(), part)), err
}

// RunsHere reports whether a host of this machine runs the experiment in a working directory. Then that is read even
// if the storage does not answer.
func RunsHere(dir string) bool {
	d, err := storage.At(dir)
	if err != nil || !d.Exists() {
		return false
	}
	holder, err := journal.Holder(d.Path())
	return err == nil && holder != nil
}

// Named returns an error about a copy of the experiment at url with the places in the storage: the copy is temporary.
func Named(err error, copied, url string) error {
	if err == nil || !strings.Contains(err.Error(), copied) {
		return err
	}
	return &namedError{err, strings.ReplaceAll(err.Error(), copied, url)}
}

type namedError struct {
	error
	text string
}

func (e *namedError) Error() string { return e.text }

// Unwrap returns the error about the copy.
func (e *namedError) Unwrap() error { return e.error }

// RunsOn is the machine that runs the experiment at url, as far as that is known without
// waiting; "" where none does.
func RunsOn(ctx context.Context, url string) string {
	s, err := mirror.OpenToRead(ctx, url)
	if err != nil {
		return ""
	}
	defer s.Close()
	machine, err := s.HeldBy(ctx, mirror.DefaultTiming, time.Now())
	if err != nil {
		return "" // reading the record reports it
	}
	return machine
}

func noneThere(url string, err error) error {
	if !errors.Is(err, mirror.ErrNone) {
		return err
	}
	folder, _, split := mirror.Split(url)
	if split != nil {
		return split
	}
	return fmt.Errorf("%s: there is no experiment here; `tunehost ls %s` lists the experiments", url,
		untrusted.Word(folder))
}
