package host

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/loading"
	"github.com/tunehost/tunehost/host/mirror"
)

// check is what can be said of a file before anything starts: every mistake, one
// a line.
func check(o Options, e *config.Experiment) error {
	l, err := loading.New(o.Plugins, e, filepath.Dir(e.File))
	if err != nil {
		return err
	}
	errs := l.Check(refsOf(e))
	for _, ref := range e.Reporters {
		errs = append(errs, checkFormat(ref))
	}
	errs = append(errs, missing(o, e)...)
	errs = append(errs, workless(e))
	if !o.manual && !o.virtual {
		errs = append(errs, startable(e))
	}
	if err := errors.Join(errs...); err != nil {
		return &UserError{err}
	}
	return nil
}

// workless: workers are started of a command. A plugin is told of its bundles, and
// is one process.
func workless(e *config.Experiment) error {
	if e.Placement == nil || !e.Placement.Workers || e.Trainable == nil || e.Trainable.Plugin == nil {
		return nil
	}
	return fmt.Errorf("%s: placement.workers starts trainable.command once for each bundle, and this trainable is the plugin %q: "+
		"leave workers out; the plugin is told of its bundles", e.PosOf("placement.workers"), e.Trainable.Plugin.Name)
}

// missing are keys of the file that this version takes and cannot do yet. An
// error is better than an experiment that is not what its file says.
func missing(o Options, e *config.Experiment) (errs []error) {
	for _, k := range []struct {
		key string
		set bool
	}{
		{"export", o.manual && len(e.Export) > 0},
		{"executor", e.Executor.Name != "local"},
		{"storage", o.manual && mirror.IsURL(e.Storage)},
	} {
		if k.set {
			errs = append(errs, fmt.Errorf("%s: %s: this version of tunehost cannot do that yet; leave %s out", e.PosOf(k.key), k.key, k.key))
		}
	}
	return errs
}
