package unixsock

import (
	"time"

	"golang.org/x/sys/unix"
)

// now is the time of the machine, in nanoseconds, which is the same in all its processes. Nobody sets this clock.
func now() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return time.Now().UnixNano()
	}
	return t.Nano()
}
