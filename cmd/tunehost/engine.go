package main

import (
	"context"

	"github.com/tunehost/tunehost/host"
)

// engine is what runs experiments; tests have another.
type engine struct {
	run      func(context.Context, host.Options) (host.Ended, error)
	resume   func(ctx context.Context, dir string, o host.Options) (host.Ended, error)
	validate func(context.Context, host.Options) error
	// abort kills all that was started, at once.
	abort func()
}

var hostEngine = engine{run: host.Run, resume: host.Resume, validate: host.Validate, abort: host.Abort}
