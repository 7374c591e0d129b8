//go:build !linux

package unixsock

import "time"

// now is the time of the machine, in nanoseconds, which is the same in all its processes.
func now() int64 { return time.Now().UnixNano() }
