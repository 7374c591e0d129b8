package validate

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/loading"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/validate/needs"
)

// Check returns every mistake that can be found in a file before anything starts, one a line.
func Check(o *options.Options, e *config.Experiment) error {
	l, err := loading.New(o.Plugins, e, filepath.Dir(e.File))
	if err != nil {
		return err
	}
	errs := l.Check(loading.Uses(e))
	for _, ref := range e.Reporters {
		errs = append(errs, checkFormat(ref))
	}
	errs = append(errs, missing(o.Mode.Manual, e)...)
	errs = append(errs, workless(e), tooTight(e), notHere(o, e), computable(e), needs.Requestable(e), stored(o, e))
	if !o.Mode.Manual && !o.Mode.Virtual {
		errs = append(errs, needs.Startable(e), needs.ToUpload(e))
	}
	if err := errors.Join(errs...); err != nil {
		return usererror.Wrap(err)
	}
	return nil
}

// idle warns of settings about plugins that do nothing.
func idle(o *options.Options, e *config.Experiment) []*config.Error {
	if !e.Has("sandbox") && !e.Has("grants") {
		return nil
	}
	l, err := loading.New(o.Plugins, e, filepath.Dir(e.File))
	if err != nil {
		return nil
	}
	return l.Idle()
}

// workless refuses workers of a plugin: workers are processes of a command. A plugin is one
// process, which is told of its bundles.
func workless(e *config.Experiment) error {
	if e.Placement == nil || !e.Placement.Workers || e.Trainable == nil || e.Trainable.Plugin == nil {
		return nil
	}
	return fmt.Errorf("%s: placement.workers starts trainable.command once for each bundle, and this trainable is the "+
		"plugin %q: "+
		"leave workers out; the plugin is told of its bundles", e.PosOf("placement.workers"), e.Trainable.Plugin.Name)
}

// stored refuses a storage that means that there is none: it would be a folder of that name.
func stored(o *options.Options, e *config.Experiment) error {
	if word := strings.ToLower(e.Storage); o.Mode.Virtual || word != "none" && word != "null" {
		return nil
	}
	return fmt.Errorf("%s: storage %s: expected a folder or a URL, since every experiment is stored, except by "+
		"tunehost asktell --storage none; leave it out for ./results, or say ./%[2]s for a folder of this name",
		e.PosOf("storage"), e.Storage)
}

// notHere refuses --resources for trials that run on leases: what this machine has does not matter
// to them.
func notHere(o *options.Options, e *config.Experiment) error {
	if o.Resources == "" || !e.Leased() || o.Mode.Virtual {
		return nil
	}
	return fmt.Errorf("%s: --resources says what this machine has, and trials run on leases of the executor %q: leave "+
		"one of them out", e.PosOf("executor"), e.Executor.Name)
}

// missing refuses keys of the file that this version accepts and cannot do yet: an error is
// better than an experiment that differs from its file.
func missing(manual bool, e *config.Experiment) (errs []error) {
	for _, k := range []struct {
		key string
		set bool
	}{
		{"export", manual && len(e.Export) > 0},
		{"storage", manual && mirror.IsURL(e.Storage)},
	} {
		if k.set {
			errs = append(errs, fmt.Errorf("%s: %s: this version of tunehost cannot do that yet; leave %s out",
				e.PosOf(k.key), k.key, k.key))
		}
	}
	if manual && e.Leased() {
		errs = append(errs, fmt.Errorf("%s: executor: asktell uses no executor, since your own program runs the "+
			"trials; "+
			"leave executor out", e.PosOf("executor")))
	}
	return errs
}

// checkFormat checks a reporter that the host is itself.
func checkFormat(ref config.PluginRef) error {
	if config.IsFormat(ref) && string(ref.Options) != "{}" {
		return &config.Error{Pos: ref.Pos, Msg: fmt.Sprintf("reporter %q has no options", ref.Name)}
	}
	return nil
}
