// Package quick makes small messages between processes cheap.
//
// The runtime of Go has a thread (sysmon) that watches what the others do. It sleeps while a process has nothing to
// do, and the first system call after that wakes it. A process that answers thousands of small messages a second has
// nothing to do between any two of them: two fifths of its processor time are that thread's. Connections of this
// package read and write without telling the runtime, as long as messages come one soon after the other.
//
// The thread also takes the processor from goroutines that compute for long. So it must be awake while they do: it is
// woken at least once in every [period] in which messages come, and for the first one after a pause.
package quick

import "time"

// period is how much longer than usual a goroutine may compute before others get its processor.
const period = 50 * time.Millisecond
