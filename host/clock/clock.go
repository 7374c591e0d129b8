// Package clock is where time comes from for the loop and those that it drives.
// Each of them is given a Clock and asks nothing else for the time, so that an
// experiment can be run in one that is simulated.
package clock

import "time"

// Clock is where time comes from; there is one that is simulated.
type Clock interface {
	// Now is the time of day.
	Now() time.Time
	// Since is the time that has passed since an earlier Now, whatever was
	// done to the time of day.
	Since(time.Time) time.Duration
	// AfterFunc calls f in its own goroutine after d, unless stopped before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// System is the machine's.
type System struct{}

// Now implements Clock.
func (System) Now() time.Time { return time.Now() }

// Since implements Clock.
func (System) Since(t time.Time) time.Duration { return time.Since(t) }

// AfterFunc implements Clock.
func (System) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}
