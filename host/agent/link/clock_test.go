package link

import (
	"slices"
	"sync"
	"time"
)

// handClock is a clock that the test moves.
type handClock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timer
}

type timer struct {
	at time.Time
	f  func()
}

func newHandClock() *handClock { return &handClock{now: time.Unix(1e9, 0)} }

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c *handClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := &timer{c.now.Add(d), f}
	c.timers = append(c.timers, at)
	return func() bool { return c.remove(at) }
}

func (c *handClock) remove(at *timer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.timers)
	c.timers = slices.DeleteFunc(c.timers, func(x *timer) bool { return x == at })
	return len(c.timers) < before
}

// advance moves the clock from timer to timer.
func (c *handClock) advance(d time.Duration) {
	end := c.Now().Add(d)
	for {
		c.mu.Lock()
		next := (*timer)(nil)
		for _, x := range c.timers {
			if !x.at.After(end) && (next == nil || x.at.Before(next.at)) {
				next = x
			}
		}
		if next == nil {
			c.now = end
			c.mu.Unlock()
			return
		}
		if next.at.After(c.now) {
			c.now = next.at
		}
		c.mu.Unlock()
		if c.remove(next) {
			next.f()
		}
	}
}

// jump moves the clock, and runs no timer.
func (c *handClock) jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
