package holding

import (
	"errors"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/storage"
)

const (
	// leavingEvery is how often the lock of a host that ends is tried.
	leavingEvery = 200 * time.Millisecond
	// leavingMore is how long a host may take to end after it has waited for its executor.
	leavingMore = 10 * time.Second
)

// lockSoon locks a directory. If its host is about to end, it says so and waits for that: of several jobs that continue
// an experiment one after the other, a cluster may start the next one while the host of the last one still gives its
// leases back.
func lockSoon(dir storage.Dir, o *options.Options) (*journal.Lock, error) {
	var until time.Time // zero: the host is not known to end
	for {
		now := o.Clock.Now()
		lock, err := journal.LockDir(dir.Path(), now)
		if err == nil {
			return lock, nil
		}
		if end := dir.LeavesBy(now); !end.IsZero() && until.IsZero() {
			sayLeaving(o, err, dir.Leaving(now))
			until = end.Add(leavingMore)
		}
		if _, locked := errors.AsType[*journal.LockedError](err); !locked || !now.Before(until) || o.Exit.Asked() {
			return nil, inUse(dir.Unwritable(err), dir.Leaving(now))
		}
		pause(o.Clock, leavingEvery)
	}
}

// sayLeaving says whose end this host waits for.
func sayLeaving(o *options.Options, err error, leaving string) {
	if held, locked := errors.AsType[*journal.LockedError](err); locked && o.Stderr != nil {
		fmt.Fprintf(o.Stderr, "%s is in use by process %d on %s: %s; this one waits for its end, and then continues\n",
			held.Dir, held.PID, held.Host, leaving)
	}
}

func pause(c clock.Clock, d time.Duration) {
	over := make(chan struct{})
	c.AfterFunc(d, func() { close(over) })
	<-over
}
