package opening

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/report/publish"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Reporters opens the plugins among the experiment's reporters, all at once. dir is the
// experiment's directory. If one of them fails, the caller must close the others, which it returns.
func (o *Opener) Reporters(ctx context.Context, dir string) ([]*publish.PluginReporter, error) {
	var list []*publish.PluginReporter
	taken := map[string]int{}
	for _, ref := range o.Experiment.Reporters {
		if !config.IsFormat(ref) {
			list = append(list, o.reporter(ref, dir, relayKey(ref, taken)))
		}
	}
	errs := make([]error, len(list))
	var wait sync.WaitGroup
	for i, r := range list {
		wait.Go(func() { errs[i] = r.Begin(ctx) })
	}
	wait.Wait()
	return list, errors.Join(errs...)
}

func (o *Opener) reporter(ref config.PluginRef, dir, key string) *publish.PluginReporter {
	e := sdk.Experiment{Name: o.Experiment.Name, Dir: dir, Problem: o.Problem(seeds.Reporter)}
	return &publish.PluginReporter{Title: fmt.Sprintf("%q", ref.Name), Log: o.Log, Clock: o.Clock,
		Limit: o.Limit(sdk.KindReporter, ref, deadlines.Report),
		File:  filepath.Join(dir, ".told-"+key),
		Open: func(ctx context.Context, told uint64) (plugin.Reporter, error) {
			e.Told = told
			return o.openReporter(ctx, ref, e)
		}}
}

func (o *Opener) openReporter(ctx context.Context, ref config.PluginRef, e sdk.Experiment) (plugin.Reporter, error) {
	p, err := o.Start(ctx, sdk.KindReporter, ref, nil)
	if err != nil {
		return nil, Placed(ref, err)
	}
	r, err := Opened(ctx, o, sdk.KindReporter, ref, deadlines.Open,
		func(ctx context.Context) (plugin.Reporter, error) { return p.OpenReporter(ctx, e, ref.Options) })
	if err != nil {
		_ = p.Close()
		return nil, Placed(ref, err)
	}
	return r, nil
}

// relayKey is the name of a reporter in files. Two of one name differ by their order.
func relayKey(ref config.PluginRef, taken map[string]int) string {
	key := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, filepath.Base(ref.Name))
	key = key[:min(len(key), 64)]
	if taken[key]++; taken[key] > 1 {
		key += "-" + strconv.Itoa(taken[key])
	}
	return key
}
