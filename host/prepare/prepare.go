// Package prepare finds out which experiment a user means, where it is, and whether it starts
// or resumes, before any process is started.
package prepare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/remote"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/validate"
)

// Plan is an experiment that is ready to be run.
type Plan struct {
	Experiment *config.Experiment
	// Dir is the zero value for an experiment that is not kept.
	Dir storage.Dir
	// Remote is the storage of an experiment that is stored elsewhere.
	Remote *remote.Storage
	// File is the run.json of a resumed experiment; nil: a new one starts.
	File *runfile.File
	// Changed: File differs from the file in the directory.
	Changed bool
	// Extends is the experiment before this host extends it; nil: it is not extended.
	Extends *config.Experiment
	// Renamed: the experiment has a free name, because its own is taken (Resume never).
	Renamed bool
	// Before is the experiment as earlier hosts ran it; nil: a new one starts.
	Before *config.Experiment
	// ExecutorAt is the position where the user names another executor, or other options of it.
	ExecutorAt config.Pos
	// Warnings are for the user, once there is a log.
	Warnings []string
	// given is the present file of a resumed experiment, or nil.
	given *config.Experiment
	// known is how many settings run.json had.
	known int
	// unheard are the keys of settings that are ignored.
	unheard []string
}

// Heard returns settings without those that are ignored, since nothing may advise to repeat them. A setting of a map
// of which other parts are taken stays.
func (p *Plan) Heard(sets []string) []string {
	return slices.DeleteFunc(slices.Clone(sets), func(set string) bool {
		key, _, _ := strings.Cut(set, "=")
		return slices.ContainsFunc([]string{"searcher", "scheduler", "space", "seed"}, func(whole string) bool {
			return key == whole || strings.HasPrefix(key, whole+".")
		}) && slices.ContainsFunc(p.unheard, func(x string) bool { return x == key || strings.HasPrefix(x, key+".") })
	})
}

// Close releases a plan that is not run.
func (p *Plan) Close() { p.Remote.Close() }

// Load reads and checks the experiment file.
func Load(ctx context.Context, o *options.Options) (*config.Experiment, error) {
	if err := errors.Join(local.Limits(), checkText(o)); err != nil {
		return nil, usererror.Wrap(err)
	}
	if err := flagTwice(o); err != nil {
		return nil, err
	}
	list := []config.Option{config.WithSet(o.Sets...)}
	if o.Storage != "" && !o.InMemory() {
		list = append(list, config.WithFlag("storage", o.Storage))
	}
	if o.Name != "" {
		list = append(list, config.WithFlag("name", o.Name))
	}
	e, err := read(ctx, o, list)
	if err == nil {
		e, err = moved(ctx, o, e, list)
	}
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, usererror.Wrap(err)
	}
	return e, validate.Check(o, e)
}

// flagTwice refuses two flags of which one would be ignored.
func flagTwice(o *options.Options) error {
	for _, flag := range []struct{ key, value, what string }{
		{"storage", o.Storage, "say where the results are"}, {"name", o.Name, "name the experiment"},
	} {
		i := slices.IndexFunc(o.Sets, func(set string) bool { return strings.HasPrefix(set, flag.key+"=") })
		if i >= 0 && flag.value != "" && (flag.key != "storage" || !o.InMemory()) {
			return usererror.Errorf("--%s %s and --set %s: both %s; give one of them", flag.key, flag.value, o.Sets[i],
				flag.what)
		}
	}
	return nil
}

// checkText refuses paths of an experiment that cannot be told to its programs.
func checkText(o *options.Options) error {
	if o.InMemory() {
		return nil
	}
	file, err := filepath.Abs(o.File)
	return errors.Join(err, cmp.Or(storage.CheckText(o.Storage), storage.CheckText(file)))
}

// read reads the experiment from its source.
func read(ctx context.Context, o *options.Options, list []config.Option) (*config.Experiment, error) {
	if o.Mode.Manual || o.Mode.Virtual {
		list = append(list, config.WithoutTrainable())
	}
	if o.Mode.Source != nil {
		return config.Parse(o.File, o.Mode.Source, list...)
	}
	return unlessInterrupted(ctx, func() (*config.Experiment, error) { return config.Load(o.File, list...) })
}

// unlessInterrupted reads a file that the user named, which may be a pipe, until the user
// interrupts.
func unlessInterrupted(ctx context.Context, read func() (*config.Experiment, error)) (e *config.Experiment, err error) {
	done := make(chan error, 1)
	var found *config.Experiment
	go func() {
		var err error
		found, err = read()
		done <- err
	}()
	select {
	case err := <-done:
		return found, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// FromFile prepares an experiment file, or resumes its experiment.
func FromFile(ctx context.Context, o options.Options) (*Plan, error) {
	e, err := Load(ctx, &o)
	if err != nil {
		return nil, err
	}
	e, note, err := freeName(ctx, o, e)
	if err != nil {
		return nil, err
	}
	p, err := Loaded(ctx, &o, e)
	if err == nil && p.File == nil && note != "" {
		p.Warnings, p.Renamed = append([]string{note}, p.Warnings...), true
	}
	return p, err
}

// Loaded prepares an experiment file that was loaded.
func Loaded(ctx context.Context, o *options.Options, e *config.Experiment) (_ *Plan, err error) {
	if o.InMemory() {
		p := &Plan{Experiment: e}
		p.doubt(o, e)
		return p, nil
	}
	if err := keepName(ctx, o, e); err != nil {
		return nil, err
	}
	p := &Plan{Experiment: e}
	if err := p.place(ctx, o, e.Storage, e.Name); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	known := p.Dir.Exists()
	if !known && !slices.Contains([]string{"", "auto", "prompt", "never"}, o.Resume) {
		return nil, usererror.Errorf("%s: there is no experiment to resume (--resume %s); leave --resume out to "+
			"start one", p.Dir.Path(), o.Resume)
	}
	if !known {
		p.doubt(o, e)
		return p, usererror.Wrap(p.Dir.Vacant())
	}
	if o.Resume == "prompt" {
		if err := prompt(ctx, o, p.Dir); err != nil {
			return nil, err
		}
	}
	return p, p.resume(o, e)
}

// FromDir prepares the experiment in a directory or at a URL, as it was recorded.
func FromDir(ctx context.Context, path string, o *options.Options) (*Plan, error) {
	if err := local.Limits(); err != nil {
		return nil, usererror.Wrap(err)
	}
	p := &Plan{}
	if err := p.placeRecorded(ctx, o, path); err != nil {
		return nil, err
	}
	if !p.Dir.Exists() {
		p.Close()
		if runfile.Lost(p.Dir) {
			return nil, usererror.Wrap(runfile.Missing(p.Dir))
		}
		return nil, usererror.Errorf("%s: there is no experiment here; name the directory that `tunehost ls` shows",
			path)
	}
	if err := p.resume(o, nil); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// prompt asks whether to resume the experiment in d, until the user interrupts.
func prompt(ctx context.Context, o *options.Options, d storage.Dir) error {
	answer := make(chan bool, 1)
	go func() {
		answer <- o.Ask != nil && o.Ask("There is an experiment in "+d.Path()+". Continue with it?")
	}()
	select {
	case yes := <-answer:
		if !yes {
			return usererror.Errorf("%s: left as it is; give the new experiment another --name", d.Path())
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// place finds the directory of the experiment of a name in a storage.
func (p *Plan) place(ctx context.Context, o *options.Options, in, name string) (err error) {
	if mirror.IsURL(in) {
		return p.placeURL(ctx, o, mirror.Join(in, name))
	}
	if p.Dir, err = storage.At(filepath.Join(in, name)); err == nil {
		err = cmp.Or(storage.CheckText(p.Dir.Path()), p.Dir.CheckOwn())
	}
	return storage.Unusable(err)
}

// placeURL finds the working directory of an experiment that is stored elsewhere, and brings it
// up to date.
func (p *Plan) placeURL(ctx context.Context, o *options.Options, url string) error {
	path, err := remote.WorkingDir(url)
	if err != nil {
		return usererror.Wrap(err)
	}
	if p.Dir, err = storage.At(path); err == nil {
		err = storage.CheckText(p.Dir.Path())
	}
	if err != nil {
		return err
	}
	return p.attach(ctx, o, url)
}

func (p *Plan) attach(ctx context.Context, o *options.Options, url string) (err error) {
	tell := func(text string) {
		if o.Stderr != nil && o.Verbose > 0 {
			fmt.Fprintln(o.Stderr, text)
		}
	}
	o.Await("the storage " + url)
	p.Remote, err = remote.Attach(ctx, url, p.Dir,
		remote.Options{Resume: o.Resume, TrustDir: o.TrustDir, Timing: o.Mode.Leases, Tell: tell})
	if err == nil {
		p.Warnings = append(p.Warnings, p.Remote.Doubts()...)
	}
	return storage.Advise(err)
}

// placeRecorded finds an experiment that is named by its directory or its URL.
func (p *Plan) placeRecorded(ctx context.Context, o *options.Options, path string) (err error) {
	if mirror.IsURL(path) {
		return p.placeURL(ctx, o, path)
	}
	if p.Dir, err = storage.At(path); err != nil {
		return err
	}
	if err := p.Dir.CheckOwn(); err != nil {
		return usererror.Wrap(err)
	}
	if !p.Dir.Exists() {
		return nil
	}
	if err := storage.CheckText(p.Dir.Path()); err != nil {
		return usererror.Wrap(err)
	}
	r, e, err := runfile.Read(p.Dir)
	if err != nil {
		return usererror.Wrap(err)
	}
	if mirror.IsURL(e.Storage) { // unless the copy was moved since
		return p.attach(ctx, o, cmp.Or(mirror.StoreOf(p.Dir.Path()), mirror.Join(e.Storage, r.Name)))
	}
	return nil
}

// resume plans to resume the experiment in the directory; e is the present file, or nil.
func (p *Plan) resume(o *options.Options, e *config.Experiment) error {
	r, recorded, err := runfile.Read(p.Dir)
	if err != nil {
		return usererror.Wrap(err)
	}
	p.given, p.known = e, len(r.Overrides)
	changed, own := changes{}, ownership{}
	if e != nil {
		if own, err = ownedBy(r, e, p); err != nil {
			return err
		}
		if changed, err = changesSince(r, recorded, e, o.Extend, p.liesIn(e.Storage)); err != nil {
			return err
		}
	}
	if own.foreign {
		changed.inFile = nil // the experiment's own file lacks what this one extends
	}
	if x := changed.boundary(r, time.Now()); x != nil {
		r.Extensions = append(r.Extensions, *x)
	}
	if changed.extends {
		p.Extends = recorded
	}
	r.Overrides = append(r.Overrides, changed.taken...)
	moved := (p.Remote != nil && e != nil || own.moved) && r.Move(e.File)
	if p.Experiment, err = r.Parse(recorded.Source); err != nil {
		return usererror.Wrap(err)
	}
	p.Before = recorded
	p.unheard = changed.unheard
	p.ExecutorAt, _ = config.OtherExecutor(recorded, cmp.Or(e, p.Experiment))
	p.File, p.Changed = r, moved || len(changed.taken) > 0
	p.Warnings = append(p.Warnings, slices.Concat(own.warnings, changed.ignored, changed.back, changed.program,
		changed.moved)...)
	p.doubt(o, e)
	return nil
}

// liesIn reports whether the experiment's directory, or its copy, is in a storage.
func (p *Plan) liesIn(storage string) bool {
	if p.Remote != nil {
		return true // it was found there
	}
	dir, err := filepath.Abs(storage)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	return err == nil && filepath.Dir(p.Dir.Path()) == dir
}

// Renew plans again if settings were changed since: `tunehost set` may change them until this host has the lock.
func (p *Plan) Renew(o *options.Options) error {
	if p.File == nil {
		return nil
	}
	r, _, err := runfile.Read(p.Dir)
	if err != nil {
		return usererror.Wrap(err)
	}
	if len(r.Overrides) == p.known {
		return nil
	}
	p.Extends, p.Warnings = nil, nil
	return p.resume(o, p.given)
}

// doubt adds warnings about settings that are valid but surely not intended: those of the file, if there is one, and
// more that a recorded experiment has, such as by `tunehost set`.
func (p *Plan) doubt(o *options.Options, e *config.Experiment) {
	var list []*config.Error
	if e != nil {
		list = validate.Doubts(o, e)
	}
	if p.Experiment != e {
		for _, w := range validate.Doubts(o, p.Experiment) {
			if !slices.ContainsFunc(list, func(x *config.Error) bool { return x.Msg == w.Msg }) {
				list = append(list, w)
			}
		}
	}
	for _, w := range list {
		p.Warnings = append(p.Warnings, w.Error())
	}
}
