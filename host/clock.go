package host

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

// SystemClock is the machine's.
type SystemClock struct{}

// Now implements Clock.
func (SystemClock) Now() time.Time { return time.Now() }

// Since implements Clock.
func (SystemClock) Since(t time.Time) time.Duration { return time.Since(t) }

// AfterFunc implements Clock.
func (SystemClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}
