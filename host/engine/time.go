package engine

import (
	"time"

	"github.com/tunehost/tunehost/host/clock"
)

// runningTime is how long the experiment has been running, under all of its hosts.
type runningTime struct {
	clock  clock.Clock
	began  time.Time     // when this host took over
	before time.Duration // running time before it did
	now    int64
	told   bool // set was called: the clock does not count any more
	exact  bool // now is what the caller told, or what it had told before
}

func newRunningTime(c clock.Clock, before int64) runningTime {
	return runningTime{clock: c, began: c.Now(), before: time.Duration(before), now: before}
}

func (t *runningTime) running() time.Duration { return t.before + t.clock.Since(t.began) }

// tick returns the running time now in nanoseconds, which never goes back.
func (t *runningTime) tick() int64 {
	if !t.told {
		t.now = max(t.now, int64(t.running()))
	}
	return t.now
}

func (t *runningTime) set(at int64) {
	t.exact = t.exact || at >= t.now
	t.told, t.now = true, max(t.now, at)
}
