package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/mirror"
	"github.com/tunehost/tunehost/host/runfile"
	"github.com/tunehost/tunehost/host/spec"
	"github.com/tunehost/tunehost/host/view"
)

// Validate checks an experiment file as far as that is possible without a trial: the
// file, the plugins that it names and their options, and whether a trial fits the
// machine. Bundled searchers and schedulers say in this process whether they take the
// problem; those from folders are started for that only with Options.Start. Warnings
// go to Options.Stderr.
func Validate(ctx context.Context, o Options) error {
	e, err := load(o)
	if err != nil {
		return err
	}
	doubts := doubtsOf(e)
	if e.Trainable != nil && e.Trainable.Plugin == nil {
		doubts = append(doubts, unaskedCheckpoints(e)...)
	}
	for _, w := range doubts {
		if _, err := fmt.Fprintln(o.Stderr, "warning: "+w.Error()); err != nil {
			return err
		}
	}
	if err := errors.Join(writable(e), learnable(e), restorable(e)); err != nil {
		return &UserError{err}
	}
	nodes, err := machineNodes(ctx, o.Resources)
	if err != nil {
		return &UserError{err}
	}
	short, err := shortfall(e, nodes)
	if err != nil {
		return err
	}
	if short != nil && !e.WaitForResources {
		return tooSmall(e, short)
	}
	return tryPlugins(ctx, o, e, nodes)
}

// tooSmall says where the file asks for what could never be granted.
func tooSmall(e *config.Experiment, short error) error {
	pos := e.PosOf("placement")
	if e.Placement == nil {
		pos = e.PosOf("resources")
	}
	return &UserError{fmt.Errorf("%s: %w; ask for less, or let trials wait for more with wait_for_resources: true", pos, short)}
}

// learnable says whether there are the experiments to learn from.
func learnable(e *config.Experiment) error {
	for _, name := range e.LearnFrom {
		if !view.Is(otherDir(filepath.Dir(e.File), name)) {
			return fmt.Errorf("%s: learn_from: %s: %w", e.PosOf("learn_from"), name, runfile.ErrNone)
		}
	}
	return nil
}

// writable says whether results can be written: into the directory, or into the
// nearest one above it that exists.
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
		case err != nil && errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir):
			dir = filepath.Dir(dir)
		default:
			return fmt.Errorf("%s: storage %s: %s cannot be written to; choose another with storage or --storage", e.PosOf("storage"), e.Storage, dir)
		}
	}
}

// reachable says whether the storage answers.
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

// shortfall says why no trial can ever run on these nodes; nil when one can
// (B-035).
func shortfall(e *config.Experiment, nodes []resource.Node) (short, err error) {
	request, err := spec.LeastRequest(e)
	if err != nil {
		return nil, &UserError{err}
	}
	ledger := resource.NewLedger()
	for _, n := range nodes {
		if err := ledger.AddNode(n); err != nil {
			return nil, &UserError{err}
		}
	}
	if ok, s := ledger.FitsEver(request); !ok {
		return s, nil
	}
	return nil, nil
}

// joined are the events of nodes that join.
func joined(nodes []resource.Node) []core.Event {
	events := make([]core.Event, len(nodes))
	for i, n := range nodes {
		events[i] = &core.NodeJoined{Node: n, More: i < len(nodes)-1}
	}
	return events
}
