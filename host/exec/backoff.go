package exec

import (
	"context"
	"time"
)

// The time between two tries grows from the first to the last.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 30 * time.Second
	// warnAfter is the number of failures in a row after which the user is warned. A single failure is
	// normal for engines.
	warnAfter = 3
)

// backoff waits after failures, longer after each.
type backoff struct {
	granter  *Granter
	failures int
	since    time.Time // the first of the failures
	warned   bool
}

// succeeded notes that nothing is left to call. The executor answers again only if it has answered each call that
// failed: what it failed to may have been given up, as at the end of the experiment.
func (b *backoff) succeeded() {
	b.failures = 0
	if b.warned && len(b.granter.failing) == 0 {
		b.warned = false
		b.granter.Log.Warn(b.granter.Title + " answers again")
	}
}

// worthWarning reports whether the user must know now: engines whose commands try for long themselves fail seldom.
func (b *backoff) worthWarning() bool {
	return !b.warned && (b.failures >= warnAfter || b.granter.Clock.Since(b.since) >= slowCall)
}

// failed notes a failure and waits. When the host ends, the next try is due at once, and those
// after it soon: what is given back does not wait for what was requested.
func (b *backoff) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	if b.failures++; b.failures == 1 {
		b.since = b.granter.called
	}
	text := err.Error() + "; it is tried again"
	if b.worthWarning() {
		b.warned = true
		b.granter.Log.Warn(text + " until it answers; " + b.granter.awaits())
	} else {
		b.granter.Log.Info(text)
	}
	wait, end := context.WithCancel(ctx)
	defer end()
	defer b.granter.Clock.AfterFunc(b.wait(), end)()
	select {
	case <-wait.Done():
	case <-b.granter.closing:
		b.failures = min(b.failures, warnAfter-1)
	}
}

func (b *backoff) wait() time.Duration {
	wait := firstWait
	for i := 1; i < b.failures && wait < lastWait; i++ {
		wait *= 2
	}
	return min(wait, lastWait)
}
