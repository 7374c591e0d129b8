package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/mirror"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/runfile"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/warden"
)

// Options are what the command line says beside the experiment file.
type Options struct {
	File string
	// Sets override keys of the file, as KEY=VALUE.
	Sets          []string
	Storage, Name string
	// Resume is auto, local, remote, prompt, never, errored_only,
	// errored_restart or errored_resume; "" is auto.
	Resume string
	// Resources replace what was found on this machine: cpu=16,gpu=2.
	Resources string
	// Share uses what other experiments on this machine have claimed all the same.
	Share bool
	// Verbose is 0 (silent) to 3 (every result).
	Verbose int
	// JSON prints an object for each event instead of the progress.
	JSON           bool
	Stdout, Stderr io.Writer
	// Terminal: Stdout is one, and may be redrawn.
	Terminal bool
	Plugins  *bundled.Registry
	// AcceptPlugins goes on with plugins that have changed since the experiment
	// began.
	AcceptPlugins bool
	// Extend takes changes of the searcher, the scheduler and the space as well,
	// where an experiment goes on.
	Extend bool
	// Trust lets Simulate and Backtest start plugins that are not bundled; those who
	// run an experiment always do.
	Trust bool
	// TrustDir works in a directory also where other users can change what is in it.
	TrustDir bool
	// Start lets Validate start plugins that are not bundled.
	Start bool
	// Clock is the machine's unless set.
	Clock clock.Clock
	// CallTimeout, if set, is the deadline of every call of a plugin, whatever the
	// file says.
	CallTimeout time.Duration
	// Ask asks the user a question (Resume prompt).
	Ask func(question string) bool
	// Again says which trials that have ended run again, where an experiment goes on.
	Again Again
	// Exit is how signals reach the host; nil: they do not.
	Exit *Exit
	// inProcess runs bundled plugins in this process.
	inProcess bool
	// snapshotEvery replaces snapshotEvery; 0: it does not.
	snapshotEvery uint64
	// opening ends when the user interrupts before the experiment runs; nil: never.
	opening context.Context
	// manual: the caller trains (AskTell); source is then the experiment
	// where it came from elsewhere than File.
	manual bool
	source []byte
	// virtual: nobody trains (Simulate). lockedAt is the experiment whose plugins
	// must not have changed then.
	virtual  bool
	lockedAt storage.Dir
	// remote is the storage, where it is elsewhere; leases replaces its timing.
	remote *remote
	leases mirror.Timing
	// composed is what this way to run experiments changes in a live host.
	composed composition
	// note is what the user is told when the experiment begins.
	note string
}

// Again says which trials that have ended are to run again (B-082).
type Again struct {
	// Errored: those in ERROR, from their beginning.
	Errored bool
	// Unstarted: those that were ended before they had ever started.
	Unstarted bool
	// Trials are numbers or ids of some in ERROR, which go on from their last
	// checkpoint; with Fresh they begin again in a new directory.
	Trials []string
	Fresh  bool
}

// Ended is how a run came to its end.
type Ended struct {
	Outcome core.Outcome
	Reason  string
	// Errored is how many trials are in ERROR.
	Errored int
	Dir     string
}

// UserError is a mistake that the user can mend: exit status 2.
type UserError struct{ Err error }

func (e *UserError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UserError) Unwrap() error { return e.Err }

func userError(format string, args ...any) error {
	return &UserError{fmt.Errorf(format, args...)}
}

// Run runs an experiment file, or goes on with what it has left behind. When the
// context ends, the experiment is interrupted: it is saved and can go on.
func Run(ctx context.Context, o Options) (Ended, error) {
	o.opening = ctx
	e, err := load(o)
	if err != nil {
		return Ended{}, err
	}
	if e, err = o.anew(ctx, e); err != nil {
		return Ended{}, err
	}
	return turn(ctx)(ready(ctx, o, e))
}

// turn runs a session to its end.
func turn(ctx context.Context) func(*session, error) (Ended, error) {
	return func(s *session, failed error) (ended Ended, err error) {
		if failed != nil {
			return Ended{}, failed
		}
		defer func() {
			s.close()
			err = cmp.Or(err, s.unclosed)
		}()
		return s.run(ctx)
	}
}

// ready begins an experiment, or takes up what it has left behind.
func ready(ctx context.Context, o Options, e *config.Experiment) (s *session, err error) {
	o.opening = ctx
	if err := o.keepName(ctx, e); err != nil {
		return nil, err
	}
	dir, err := o.place(ctx, e)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			o.remote.close()
		}
	}()
	known := dir.Exists()
	if !known && !slices.Contains([]string{"", "auto", "prompt", "never"}, o.Resume) {
		return nil, userError("%s: there is no experiment to go on with (--resume %s); leave --resume out to start one", dir.Path(), o.Resume)
	}
	if !known {
		return begin(o, e, dir)
	}
	if o.Resume == "prompt" {
		yes, err := o.ask("There is an experiment in " + dir.Path() + ". Go on with it?")
		if err == nil && !yes {
			err = userError("%s: left as it is; give the new experiment another --name", dir.Path())
		}
		if err != nil {
			return nil, err
		}
	}
	return goOn(o, e, dir)
}

// ask waits for the user's answer, until he interrupts.
func (o *Options) ask(question string) (yes bool, err error) {
	if o.Ask == nil {
		return false, nil
	}
	answer := make(chan bool, 1)
	go func() { answer <- o.Ask(question) }()
	select {
	case yes = <-answer:
		return yes, nil
	case <-o.opening.Done():
		return false, o.opening.Err()
	}
}

// place is where the experiment is, or will be.
func (o *Options) place(ctx context.Context, e *config.Experiment) (storage.Dir, error) {
	if !mirror.IsURL(e.Storage) {
		dir, err := storage.At(filepath.Join(e.Storage, e.Name))
		return dir, otherStorage(err)
	}
	return o.placeURL(ctx, mirror.Join(e.Storage, e.Name))
}

// otherStorage is an error of the place of an experiment, with what to do.
func otherStorage(err error) error {
	var place *storage.PlaceError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &place) && place.Do == "":
		return userError("%w; choose another with --storage", err)
	}
	return &UserError{err}
}

func (o *Options) placeURL(ctx context.Context, url string) (storage.Dir, error) {
	path, err := WorkingDir(url)
	if err != nil {
		return storage.Dir{}, &UserError{err}
	}
	dir, err := storage.At(path)
	if err != nil {
		return dir, err
	}
	return dir, o.attach(ctx, url, dir)
}

// placed is where an experiment is that is named by its directory or its URL.
func (o *Options) placed(ctx context.Context, path string) (storage.Dir, error) {
	if mirror.IsURL(path) {
		return o.placeURL(ctx, path)
	}
	dir, err := storage.At(path)
	if err != nil || !dir.Exists() {
		return dir, err
	}
	r, e, err := runfile.Read(dir)
	if err != nil {
		return dir, &UserError{err}
	}
	if url := mirror.Join(e.Storage, r.Name); mirror.IsURL(e.Storage) {
		return dir, o.attach(ctx, url, dir)
	}
	return dir, nil
}

// Resume goes on with the experiment in a directory, as it was recorded.
func Resume(ctx context.Context, path string, o Options) (Ended, error) {
	dir, err := o.placed(ctx, path)
	if err != nil {
		return Ended{}, err
	}
	if !dir.Exists() {
		o.remote.close()
		return Ended{}, userError("%s: there is no experiment here; name the directory that `tunehost ls` shows", path)
	}
	o.opening = ctx
	s, err := goOn(o, nil, dir)
	if err != nil {
		o.remote.close()
	}
	return turn(ctx)(s, err)
}

// Abort kills whatever was started and returns; what is recorded stays.
func Abort() {
	warden.KillAll() // first: it finds what has left its process group
	process.KillAll()
}

func load(o Options) (*config.Experiment, error) {
	options := []config.Option{config.WithSet(o.Sets...)}
	if o.Storage != "" && !o.inMemory() {
		options = append(options, config.WithFlag("storage", o.Storage))
	}
	if o.Name != "" {
		options = append(options, config.WithFlag("name", o.Name))
	}
	e, err := o.read(options...)
	if err != nil && o.opening != nil && o.opening.Err() != nil {
		return nil, o.opening.Err()
	}
	if err != nil {
		return nil, &UserError{err}
	}
	return e, check(o, e)
}

// read reads the experiment from where it is.
func (o *Options) read(options ...config.Option) (*config.Experiment, error) {
	if o.manual || o.virtual {
		options = append(options, config.WithoutTrainable())
	}
	if o.source != nil {
		return config.Parse(o.File, o.source, options...)
	}
	return o.unlessInterrupted(func() (*config.Experiment, error) { return config.Load(o.File, options...) })
}

// unlessInterrupted reads a file that the user named, which may be the end of a pipe, and
// gives up when the user interrupts.
func (o *Options) unlessInterrupted(read func() (*config.Experiment, error)) (*config.Experiment, error) {
	if o.opening == nil {
		return read()
	}
	var e *config.Experiment
	done := make(chan error, 1)
	go func() {
		var err error
		e, err = read()
		done <- err
	}()
	select {
	case err := <-done:
		return e, err
	case <-o.opening.Done():
		return nil, o.opening.Err()
	}
}

// mine refuses a directory in which somebody else decides what runs.
func (o *Options) mine(dir storage.Dir) error {
	if err := dir.Look(); err != nil {
		return otherStorage(err)
	}
	if err := dir.Ours(); err != nil && !o.TrustDir {
		return userError("%w; where that is meant to be, add --trust-dir", err)
	}
	return nil
}

// begin starts a new experiment.
func begin(o Options, e *config.Experiment, dir storage.Dir) (*session, error) {
	if err := dir.Vacant(); err != nil {
		return nil, &UserError{err}
	}
	s := newSession(o, e)
	return s.after(func() error { return s.occupy(dir) }, func() error {
		if o.note != "" {
			s.log.Warn(o.note)
		}
		s.doubt(e)
		return s.create()
	})
}

// doubt tells what is right in the file but surely not meant.
func (s *session) doubt(e *config.Experiment) {
	if e == nil {
		return
	}
	for _, w := range doubtsOf(e) {
		s.log.Warn(w.Error())
	}
}

// goOn takes up what is in the directory; e is the file as it is now, or nil.
func goOn(o Options, e *config.Experiment, dir storage.Dir) (*session, error) {
	r, recorded, err := runfile.Read(dir)
	if err != nil {
		return nil, &UserError{err}
	}
	changed, own := changes{}, ownership{}
	if e != nil {
		if own, err = o.ownedBy(r, e, dir); err != nil {
			return nil, err
		}
		past, err := pastOf(r, recorded)
		if err != nil {
			return nil, &UserError{err}
		}
		if changed, err = changesOf(past, e, o.Extend); err != nil {
			return nil, err
		}
	}
	if changed.extends {
		r.Extensions = append(r.Extensions, runfile.Extension{Overrides: len(r.Overrides), Time: time.Now().UTC()})
	}
	r.Overrides = append(r.Overrides, changed.taken...)
	moved := (o.remote != nil && e != nil || own.moved) && r.Move(e.File)
	now, err := r.Parse(recorded.Source)
	if err != nil {
		return nil, &UserError{err}
	}
	s := newSession(o, now)
	return s.after(func() error { return s.occupy(dir) }, func() error {
		for _, text := range slices.Concat(own.warnings, changed.ignored) {
			s.log.Warn(text)
		}
		if changed.program != "" {
			s.log.Warn(changed.program)
		}
		s.doubt(e)
		s.file = r
		if changed.extends {
			s.extends = recorded
		}
		return s.open(moved || len(changed.taken) > 0)
	})
}

// orNull is what an override says of a key that is gone.
func orNull(b []byte) string {
	if b == nil {
		return "null"
	}
	return string(b)
}

func orNothing(b []byte) string {
	if b == nil {
		return "nothing"
	}
	return string(b)
}
