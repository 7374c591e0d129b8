// Package clock provides the time for the loop and its drivers. They use a Clock for all times, so
// that an experiment can run in simulated time.
package clock

import "time"

// Clock provides the time; there is a simulated one.
type Clock interface {
	// Now returns the time of day.
	Now() time.Time
	// Since returns the time that has passed since an earlier Now, independent of changes to the time of
	// day.
	Since(time.Time) time.Duration
	// AfterFunc calls f in its own goroutine after d, unless stopped before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// System is the machine's clock.
type System struct{}

// Now implements Clock.
func (System) Now() time.Time { return time.Now() }

// Since implements Clock.
func (System) Since(t time.Time) time.Duration { return time.Since(t) }

// AfterFunc implements Clock.
func (System) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}
