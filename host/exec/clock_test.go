package exec_test

import (
	"sync"
	"time"
)

// byHand is a clock that a test moves.
type byHand struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*func()]time.Time
}

func (c *byHand) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *byHand) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c *byHand) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timers == nil {
		c.timers = map[*func()]time.Time{}
	}
	c.timers[&f] = c.now.Add(d)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waited := c.timers[&f]
		delete(c.timers, &f)
		return waited
	}
}

// callEnds waits until no call of an executor can be found slow: a call that has been answered may not have
// ended yet.
func (c *byHand) callEnds() {
	for c.waitsFor(slowCall) {
		time.Sleep(time.Millisecond)
	}
}

// waitsFor reports whether a function is due after exactly this time.
func (c *byHand) waitsFor(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.timers {
		if at.Equal(c.now.Add(d)) {
			return true
		}
	}
	return false
}

const slowCall = 5 * time.Second

// pass lets time pass, and calls what is due.
func (c *byHand) pass(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for f, at := range c.timers {
		if !at.After(c.now) {
			due = append(due, *f)
			delete(c.timers, f)
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

// eager is a clock in which what waits for a time has it at once, and which otherwise stands still. Only what watches
// whether the executor is slow or silent never has its time: a busy machine would make it so.
type eager struct{ byHand }

const silence = time.Minute

func (c *eager) AfterFunc(d time.Duration, f func()) func() bool {
	if d == slowCall || d == silence {
		return func() bool { return true }
	}
	c.pass(d)
	return time.AfterFunc(0, f).Stop
}

func newEager() *eager { return &eager{byHand{now: time.Now()}} }
