package host

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/loading"
	"github.com/tunehost/tunehost/host/lockfile"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// findPlugins finds the experiment's plugins, and holds them against those that it
// began with. None is started before.
func (s *session) findPlugins() (err error) {
	if s.loader != nil {
		return nil // a rig's, found before
	}
	if s.loader, err = loading.New(s.options.Plugins, s.experiment, filepath.Dir(s.file.File)); err != nil {
		return err
	}
	if err := errors.Join(s.loader.Check(refsOf(s.experiment))...); err != nil {
		return &UserError{err}
	}
	if s.options.lockedAt.Path() != "" && s.options.Trust { // a simulation of what an experiment recorded
		return asUser(s.loader.Allowed(s.options.lockedAt))
	}
	if s.lock == nil || s.options.AcceptPlugins {
		return nil
	}
	if locked, err := lockfile.Read(s.dir); err == nil && locked != nil && locked.Tunehost != Version() {
		s.log.Info(fmt.Sprintf("tunehost.lock was written by tunehost %s, this is %s", locked.Tunehost, Version()))
	}
	return asUser(s.loader.Allowed(s.dir))
}

func asUser(err error) error {
	if err == nil {
		return nil
	}
	return &UserError{err}
}

// writeLock records the plugins that the experiment goes on with, once they have
// been opened.
func (s *session) writeLock() error {
	if s.lock == nil {
		return nil
	}
	now := lockfile.New(Version(), s.loader.Locked())
	if before, err := lockfile.Read(s.dir); err == nil && before != nil {
		now.Succeed(before, s.options.AcceptPlugins, s.clock.Now())
		if before.Same(now) {
			return nil
		}
	}
	return now.Write(s.dir)
}

// refsOf are the plugins that the file names, in its order.
func refsOf(e *config.Experiment) []loading.Use {
	uses := []loading.Use{{Kind: sdk.KindSearcher, Ref: e.Searcher}}
	for _, ref := range e.Schedulers() {
		uses = append(uses, loading.Use{Kind: sdk.KindScheduler, Ref: ref})
	}
	if e.Trainable != nil && e.Trainable.Plugin != nil {
		uses = append(uses, loading.Use{Kind: sdk.KindTrainable, Ref: *e.Trainable.Plugin})
	}
	for _, ref := range e.Reporters {
		if !isFormat(ref) {
			uses = append(uses, loading.Use{Kind: sdk.KindReporter, Ref: ref})
		}
	}
	slices.SortStableFunc(uses, func(a, b loading.Use) int {
		return cmp.Or(cmp.Compare(a.Ref.Pos.Line, b.Ref.Pos.Line), cmp.Compare(a.Ref.Pos.Column, b.Ref.Pos.Column))
	})
	return uses
}

// UsesOwnPlugins says whether an experiment uses a plugin that is not bundled: its user may
// have to repair it.
func UsesOwnPlugins(plugins *bundled.Registry, e *config.Experiment) bool {
	return slices.ContainsFunc(refsOf(e), func(u loading.Use) bool { return opening.Foreign(plugins, u.Kind, u.Ref) })
}
