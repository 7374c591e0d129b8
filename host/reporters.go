package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/report/files"
	"github.com/tunehost/tunehost/host/seeds"
	"github.com/tunehost/tunehost/host/telling"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// isFormat says whether a reporter is one of the files that the host writes
// itself.
func isFormat(ref config.PluginRef) bool {
	_, ok := files.ParseFormat(ref.Name)
	return ok && !ref.IsPath()
}

// openReporters opens the plugins among the experiment's reporters, at a time.
func (s *session) openReporters() error {
	if s.lock == nil {
		return nil // nothing is kept that could be told
	}
	taken := map[string]int{}
	for _, ref := range s.experiment.Reporters {
		if !isFormat(ref) {
			s.relays = append(s.relays, s.newRelay(ref, taken))
		}
	}
	errs := make([]error, len(s.relays))
	var wait sync.WaitGroup
	for i, r := range s.relays {
		wait.Go(func() { errs[i] = r.Begin(s.options.opening) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return s.unlessInterrupted(err)
	}
	return nil
}

func (s *session) newRelay(ref config.PluginRef, taken map[string]int) *telling.Relay {
	o := s.opener()
	key := relayKey(ref, taken)
	e := sdk.Experiment{Name: s.experiment.Name, Dir: s.dir.Path(), Problem: o.Problem(seeds.Reporter)}
	return &telling.Relay{Title: fmt.Sprintf("%q", ref.Name), Log: s.log, Clock: s.clock, Limit: o.Limit(sdk.KindReporter, ref, deadlines.Report),
		File: filepath.Join(s.dir.Path(), ".told-"+key),
		Open: func(ctx context.Context, told uint64) (plugin.Reporter, error) {
			e.Told = told
			p, err := o.Start(ctx, sdk.KindReporter, ref, nil)
			if err != nil {
				return nil, err
			}
			r, err := opening.Opened(ctx, o, sdk.KindReporter, ref, deadlines.Open, func(ctx context.Context) (plugin.Reporter, error) {
				return p.OpenReporter(ctx, e, ref.Options)
			})
			if err != nil {
				_ = p.Close()
				return nil, opening.Placed(ref, err)
			}
			return r, nil
		}}
}

// relayKey is a reporter's name in files. Two of one name are told apart by
// their order.
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
