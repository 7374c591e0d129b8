package main

import (
	"context"
	"io"

	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/asktell"
	"github.com/tunehost/tunehost/host/replay"
	"github.com/tunehost/tunehost/host/simulate"
)

// engine runs experiments; tests replace it.
type engine struct {
	run      func(context.Context, host.Experiment, host.Options) (host.Ended, error)
	resume   func(ctx context.Context, dir string, o host.Options) (host.Ended, error)
	giveBack func(ctx context.Context, dir string, o host.Options) (all bool, err error)
	validate func(context.Context, host.Options) (summary string, err error)
	replay   func(ctx context.Context, dir string, o replay.Options) (replay.Result, error)
	backtest func(ctx context.Context, dir string, o host.Options, workers int) (simulate.Result, error)
	askTell  func(ctx context.Context, r io.Reader, w io.Writer, o host.Options) error
	// abort kills everything that was started, immediately.
	abort func()
}

var hostEngine = engine{run: host.Run, resume: host.Resume, giveBack: host.GiveBack, validate: host.Validate,
	replay: replay.Run, backtest: simulate.Backtest, askTell: asktell.Run, abort: host.Abort}
