// Package clocktest provides a clock for tests, in which time passes fast.
package clocktest

import (
	"sync"
	"time"
)

// Warp is a clock that runs faster, and jumps.
type Warp struct {
	speed time.Duration
	start time.Time

	mu     sync.Mutex
	jumped time.Duration
}

// New returns a clock that runs so many times as fast as the machine's, until it jumps.
func New(speed time.Duration) *Warp { return &Warp{speed: speed, start: time.Now()} }

// Now implements clock.Clock.
func (w *Warp) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.start.Add(time.Since(w.start)*w.speed + w.jumped)
}

// Since implements clock.Clock.
func (w *Warp) Since(t time.Time) time.Duration { return w.Now().Sub(t) }

// AfterFunc implements clock.Clock.
func (w *Warp) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d/w.speed, f).Stop
}

// Jump moves the time ahead at once.
func (w *Warp) Jump(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jumped += d
}
