package setup

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/usererror"
)

// Fail ends the loop, because the record cannot be written or no trial can run.
func (b *Setup) Fail(err error) {
	select {
	case b.failure <- err:
	default:
	}
}

// Failed returns a channel with the error of Fail.
func (b *Setup) Failed() <-chan error { return b.failure }

// Failure returns the error of Fail, or nil. It does not wait.
func (b *Setup) Failure() error {
	select {
	case err := <-b.failure:
		return err
	default:
		return nil
	}
}

// UnlessInterrupted returns why the experiment cannot begin. If the user has interrupted, that is the
// reason, whatever else failed because of it.
func (b *Setup) UnlessInterrupted(err error) error {
	if interrupted := b.Starting.Err(); interrupted != nil {
		return interrupted
	}
	if errors.Is(err, plugin.ErrGaveUp) {
		return err // not a mistake of the user
	}
	return usererror.Wrap(err)
}

// Copy starts copying the experiment to remote storage, if it has any.
func (b *Setup) Copy() error {
	return b.Plan.Remote.Start(b.Record, mirror.Listener{Warn: b.Warn, Lost: b.Fail})
}

// Sync syncs the record, and checks that the experiment's other files still exist.
func (b *Setup) Sync() error {
	if err := b.Record.Sync(); err != nil {
		return engine.Unrecorded(err)
	}
	return b.checkDir()
}

// checkDir returns an error if the folder of trials was removed, or if another host has the directory.
func (b *Setup) checkDir() error {
	if err := b.Check(); err != nil || !b.Kept() || b.Plan.Experiment.Trainable == nil {
		return err
	}
	if err := b.CheckTrials(); err != nil {
		return fmt.Errorf("no trial can continue, so everything is stopped: %w", err)
	}
	return nil
}

// Missing returns an error if something has failed since the loop ended, or if files of the experiment
// were removed: after an orderly end all of them exist.
func (b *Setup) Missing() error {
	if err := b.Failure(); err != nil {
		return err
	}
	if j, ok := b.Record.(interface{ Check() error }); ok && b.Kept() {
		if err := j.Check(); err != nil {
			return engine.Unrecorded(err)
		}
	}
	return b.checkDir()
}

// Close closes the record and releases the directory. It returns the error of closing the record.
func (b *Setup) Close() (unclosed error) {
	if b.Record != nil {
		if err := b.Record.Close(); err != nil && !errors.Is(err, journal.ErrClosed) {
			unclosed = engine.Unrecorded(err)
		}
	}
	b.Plan.Close()
	b.Holding.Close()
	return unclosed
}
