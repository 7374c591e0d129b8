// Package validate checks experiment files without running anything.
package validate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/effects"
	"github.com/tunehost/tunehost/host/inherit"
	"github.com/tunehost/tunehost/host/local/offer"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/usererror"
)

// Experiment checks an experiment file as far as that is possible without a trial: the
// file, the plugins that it names and their options, and whether a trial fits the
// machine. Bundled searchers and schedulers say in this process whether they accept the
// problem; those from folders are started for that only with Options.Trust. Warnings
// go to Options.Stderr. The experiment has passed Check.
func Experiment(ctx context.Context, o *options.Options, e *config.Experiment) error {
	doubts := Doubts(o, e)
	if e.Trainable != nil && e.Trainable.Plugin == nil {
		doubts = append(doubts, effects.UnaskedCheckpoints(e)...)
	}
	if e.Leased() {
		doubts = append(doubts, doubt(e.PosOf("executor"),
			"the executor %s is not asked whether its cluster can grant what a trial needs", e.Executor.Name))
	}
	for _, w := range doubts {
		if _, err := fmt.Fprintln(o.Stderr, "warning: "+w.Error()); err != nil {
			return err
		}
	}
	if mirror.IsURL(e.Storage) {
		o.Await("the storage " + e.Storage)
	}
	err := errors.Join(trainable(o, e), writable(e), inherit.Learnable(e), inherit.Restorable(e))
	if err != nil {
		return usererror.Wrap(err)
	}
	nodes, err := offer.Nodes(ctx, o.Resources)
	if err != nil {
		return usererror.Wrap(err)
	}
	short, err := offer.Shortfall(e, nodes)
	if err != nil {
		return err
	}
	switch {
	case short == nil || e.Leased():
	case e.WaitForResources:
		if _, err := fmt.Fprintln(o.Stderr, "warning: "+offer.Waits(e, short)); err != nil {
			return err
		}
	default:
		return offer.TooSmall(e, short)
	}
	return tryPlugins(ctx, o, e, nodes)
}

// writable checks that results can be written: into the directory, or into the nearest existing
// one above it.
func writable(e *config.Experiment) error {
	dir, ok := mirror.Directory(e.Storage)
	if !ok {
		if mirror.IsURL(e.Storage) {
			return reachable(e)
		}
		var err error
		if dir, err = filepath.Abs(e.Storage); err != nil {
			return err
		}
	}
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir() && unix.Access(dir, unix.W_OK) == nil:
			return nil
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s: storage %s: %s is a file, and no folder; choose another with storage or --storage",
				e.PosOf("storage"), e.Storage, dir)
		case err != nil && errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir):
			dir = filepath.Dir(dir)
		default:
			return fmt.Errorf("%s: storage %s: %s cannot be written to; choose another with storage or --storage",
				e.PosOf("storage"), e.Storage, dir)
		}
	}
}

// reachable checks that the storage answers.
func reachable(e *config.Experiment) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := mirror.Open(ctx, mirror.Join(e.Storage, e.Name))
	if err == nil {
		_, err = s.Exists(ctx)
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		return fmt.Errorf("%s: storage %s: %w", e.PosOf("storage"), e.Storage, err)
	}
	return nil
}
