package validate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/local/offer"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/loading"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// tryTimeout is how long all plugins together may take to accept or refuse.
const tryTimeout = 2 * time.Minute

// tryPlugins asks the plugins what only they know: whether their options are valid, and whether
// searcher and scheduler accept the problem.
func tryPlugins(ctx context.Context, o *options.Options, e *config.Experiment, nodes []resource.Node) error {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	dir, err := filepath.Abs(filepath.Dir(e.File))
	if err != nil {
		return err
	}
	l, err := loading.New(o.Plugins, e, dir)
	if err != nil {
		return err
	}
	guard := o.Plugins.Guard()
	defer guard.Close()
	opener := &opening.Opener{Experiment: e, Bundled: o.Plugins, Loader: l, BaseDir: dir,
		Log:   hostlog.New(hclog.NewNullLogger()),
		Clock: clock.System{}, Marked: exec.Marked{Mark: guard.Mark, Guard: guard.Start},
		Capacity: offer.Capacity(nodes), InProcess: true,
		Trusted: o.Trust}
	var errs []error
	for _, u := range loading.Uses(e) {
		if !o.Trust && !opener.IsBundled(u.Kind, u.Ref) {
			untried(o, u)
			continue
		}
		o.Await(string(u.Kind) + " " + u.Ref.Name)
		errs = append(errs, config.At(u.Ref.Pos, try(ctx, opener, u)))
	}
	if err := errors.Join(errs...); err != nil {
		return usererror.Wrap(err)
	}
	return nil
}

// untried warns of options that were not checked.
func untried(o *options.Options, u loading.Use) {
	if o.Stderr != nil && string(u.Ref.Options) != "{}" {
		fmt.Fprintf(o.Stderr, "warning: %s: whether %s %q takes these options it only says when it runs; `tunehost "+
			"validate --start` starts it to ask\n", u.Ref.Pos, u.Kind, u.Ref.Name)
	}
}

// try starts one plugin and ends it. Trainables and reporters are not opened: they might load
// their data, or write.
func try(ctx context.Context, o *opening.Opener, u loading.Use) error {
	if o.IsBundled(u.Kind, u.Ref) && u.Kind != sdk.KindSearcher && u.Kind != sdk.KindScheduler {
		return nil
	}
	p, err := o.Start(ctx, u.Kind, u.Ref, nil)
	if err != nil {
		return err
	}
	switch u.Kind {
	case sdk.KindSearcher:
		_, err = p.OpenSearcher(ctx, o.Problem(seeds.Searcher), u.Ref.Options, nil)
	case sdk.KindScheduler:
		s, refused := p.OpenScheduler(ctx, o.Problem(seeds.Scheduler), u.Ref.Options, nil)
		stop := o.Experiment.Stop.Plugin
		if err = refused; err == nil && stop != nil && stop.Pos == u.Ref.Pos {
			err = opening.OnlyStops(u.Ref, s.Traits())
		}
	}
	return errors.Join(err, p.Close())
}
