// Package quick makes small messages between processes cheap.
//
// The runtime of Go has a thread (sysmon) that watches the other threads. It sleeps while a process has nothing to
// do, and the next system call wakes it. A process that answers thousands of small messages a second has nothing to
// do between two messages, so that this thread uses two fifths of the process's time. Connections of this package
// read and write without the runtime, as long as each message follows soon after the one before.
//
// The thread also takes the processor away from goroutines that compute for long, so it must be awake then. It is
// woken at least once in every [period] in which messages come, and for the first message after a pause.
//
// A connection that belongs to this package ([Own]) is not woken either when the other end has read a message.
package quick

import "time"

// period is how much longer than usual a goroutine may compute before others get its processor.
const period = 50 * time.Millisecond
