package host

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// check is what can be said of a file before anything starts: every mistake, one
// a line.
func check(o Options, e *config.Experiment) error {
	errs := []error{Known(o.Plugins, sdk.KindSearcher, e.Searcher), Known(o.Plugins, sdk.KindScheduler, e.Scheduler)}
	if t := e.Trainable; t != nil && t.Plugin != nil {
		errs = append(errs, Known(o.Plugins, sdk.KindTrainable, *t.Plugin))
	}
	for _, ref := range e.Reporters {
		errs = append(errs, knownReporter(o.Plugins, ref))
	}
	errs = append(errs, missing(e)...)
	if err := errors.Join(errs...); err != nil {
		return &UserError{err}
	}
	return nil
}

// missing are keys of the file that this version takes and cannot do yet. An
// error is better than an experiment that is not what its file says.
func missing(e *config.Experiment) (errs []error) {
	for _, k := range []struct {
		key string
		set bool
	}{
		{"restore", e.Restore != ""},
		{"learn_from", len(e.LearnFrom) > 0},
		{"repeat", e.Repeat > 1},
		{"export", len(e.Export) > 0},
		{"checkpoint.disk", e.Checkpoint.Disk > 0},
		{"placement.workers", e.Placement != nil && e.Placement.Workers},
		{"executor", e.Executor.Name != "local"},
		{"storage", strings.Contains(e.Storage, "://")},
		{"plugins", len(e.Plugins) > 0},
		{"grants", len(e.Grants) > 0},
	} {
		if k.set {
			errs = append(errs, fmt.Errorf("%s: %s: this version of tunehost cannot do that yet; leave %s out", e.PosOf(k.key), k.key, k.key))
		}
	}
	return errs
}
