package main

import (
	"context"

	"github.com/tunehost/tunehost/host"
)

// engine runs experiments; tests replace it.
type engine struct {
	run      func(context.Context, host.Experiment, host.Options) (host.Ended, error)
	resume   func(ctx context.Context, dir string, o host.Options) (host.Ended, error)
	giveBack func(ctx context.Context, dir string, o host.Options) (all bool, err error)
	validate func(context.Context, host.Options) (summary string, err error)
	// abort kills everything that was started, immediately.
	abort func()
}

var hostEngine = engine{run: host.Run, resume: host.Resume, giveBack: host.GiveBack, validate: host.Validate,
	abort: host.Abort}
