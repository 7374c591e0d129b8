package host

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
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/loading"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/seeds"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// tryTimeout is how long all plugins together may take to say whether they would.
const tryTimeout = 2 * time.Minute

// tryPlugins finds what only plugins themselves can say: whether their options are
// well, and whether searcher and scheduler take the problem.
func tryPlugins(ctx context.Context, o Options, e *config.Experiment, nodes []resource.Node) error {
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
	opener := &opening.Opener{Experiment: e, Bundled: o.Plugins, Loader: l, BaseDir: dir, Log: hostlog.New(hclog.NewNullLogger()),
		Clock: clock.System{}, Mark: local.NewMark(dir), Capacity: capacityOf(nodes), InProcess: true, Trusted: o.Start}
	var errs []error
	for _, u := range refsOf(e) {
		if !o.Start && !opener.IsBundled(u.Kind, u.Ref) {
			o.untried(u)
			continue
		}
		errs = append(errs, config.At(u.Ref.Pos, try(ctx, opener, u)))
	}
	if err := errors.Join(errs...); err != nil {
		return &UserError{err}
	}
	return nil
}

// untried says which options are not known to be well.
func (o *Options) untried(u loading.Use) {
	if o.Stderr != nil && string(u.Ref.Options) != "{}" {
		fmt.Fprintf(o.Stderr, "warning: %s: whether %s %q takes these options it only says when it runs; `tunehost validate --start` starts it to ask\n", u.Ref.Pos, u.Kind, u.Ref.Name)
	}
}

// try starts one plugin and ends it. Trainables and reporters are not opened: they
// may load their data then, or write.
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
		_, err = p.OpenScheduler(ctx, o.Problem(seeds.Scheduler), u.Ref.Options, nil)
	}
	return errors.Join(err, p.Close())
}
