package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

const (
	// pace is the shortest time from one round to the next.
	pace = time.Second
	// slowest is the longest wait after a failure.
	slowest = 30 * time.Second
)

// Listener is told about the state of the copy.
type Listener struct {
	// Warn tells the user.
	Warn func(string)
	// Lost says that another host has the experiment.
	Lost func(error)
}

// Running is a mirror at work.
type Running struct {
	m      *Mirror
	hear   Listener
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	failed bool // the last round failed, and that was reported
}

// Start looks at what the store has, and copies from then on.
func (m *Mirror) Start(ctx context.Context, r Record, hear Listener) (*Running, error) {
	m.record = r
	look, err := m.recall, m.lease.renew(ctx) // plugins may have been slow to start
	if hasVanished(err) {
		look, err = m.again, nil
	}
	if err == nil {
		err = m.lease.While(ctx, look)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	x := &Running{m: m, hear: hear, cancel: cancel}
	x.work.Go(func() { x.renew(ctx) })
	x.work.Go(func() { x.rounds(ctx) })
	m.Wake()
	return x, nil
}

// recall looks at what the store has.
func (m *Mirror) recall(ctx context.Context) error {
	return cmp.Or(m.recallManifests(ctx), m.recallJournal(ctx), m.recallSmall(ctx))
}

// recallSmall removes the small files of a host that died in its first round, where this experiment has none of its
// own.
func (m *Mirror) recallSmall(ctx context.Context) error {
	if !m.lease.beginning() {
		return nil
	}
	for _, name := range smallFiles {
		_, err := nolink.Lstat(filepath.Join(m.dir.Path(), name))
		if errors.Is(err, fs.ErrNotExist) {
			err = m.store.delete(ctx, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *Running) renew(ctx context.Context) {
	for wait(ctx, x.m.lease.timing.Renew) {
		err := x.m.lease.renew(ctx)
		if err != nil && x.m.lease.Lost() != nil {
			x.hear.Lost(err)
			return
		}
		if hasVanished(err) {
			x.reportStore(err)
		}
		if err != nil { // a round reports what lasts
			x.m.Wake()
		}
	}
}

func (x *Running) rounds(ctx context.Context) {
	for delay := pace; ; {
		select {
		case <-ctx.Done():
			return
		case <-x.m.wake:
		}
		err := x.round(ctx)
		switch {
		case ctx.Err() != nil || x.m.lease.Lost() != nil:
			return
		case err != nil:
			x.reportStore(err)
			delay = min(2*delay, slowest)
			x.m.Wake()
		default:
			x.reportStore(nil)
			delay = pace
		}
		if !wait(ctx, delay) {
			return
		}
	}
}

// round makes a round. It reports a store that does not answer meanwhile, and gives the round up if that lasts: what
// hangs may hang for ever.
func (x *Running) round(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		for wait(ctx, x.m.lease.timing.Renew) {
			err := x.m.lease.Held()
			if err != nil && x.m.lease.Lost() == nil {
				x.reportStore(err)
			}
			if err != nil && x.m.lease.age() > 3*x.m.lease.timing.Expire {
				cancel(err)
			}
		}
	})
	err := x.m.round(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	cancel(nil)
	watching.Wait()
	if lacks := x.m.store.Lacks(); lacks != "" {
		x.hear.Warn(lacks)
	}
	return err
}

// reportStore reports once that the store cannot be written to, and once that it can again.
func (x *Running) reportStore(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case err != nil && !x.failed:
		x.hear.Warn(fmt.Sprintf("the copy in the storage is behind; new data is kept in %s only until it can "+
			"be written: %v", x.m.dir.Path(), err))
	case err == nil && x.failed:
		x.hear.Warn("the copy in the storage is complete again")
	}
	x.failed = err != nil
}

// wait returns false when the context has ended.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Close copies the rest, until the context ends, and releases the lease. An error says that the store
// is incomplete.
func (x *Running) Close(ctx context.Context) error {
	x.cancel()
	x.work.Wait()
	if err := x.m.lease.Lost(); err != nil {
		return err
	}
	for delay := pace / 4; ; delay *= 2 {
		err := x.lastRound(ctx)
		if err == nil {
			x.reportStore(nil)
			return x.m.lease.Release(ctx)
		}
		if x.m.lease.Lost() != nil || !wait(ctx, delay) {
			return err
		}
	}
}

// lastRound copies the rest, and finds out whether the store has all of it.
func (x *Running) lastRound(ctx context.Context) error {
	err := x.m.lease.renew(ctx)
	if err == nil || hasVanished(err) { // the round copies it again
		err = x.round(ctx)
	}
	if err == nil {
		err = x.m.verify(ctx)
	}
	return err
}
