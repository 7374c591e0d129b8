// Package early lets the process of a reaper wait before the rest of the program initializes itself, which takes ten
// times as long as all that a reaper does, and most of its memory.
//
// Go initializes packages that need little, as this one does, before those that need more. Should that change, reapers
// take longer and nothing else is different.
package early

import (
	"os"
	"os/signal"
	"syscall"
)

// Command is the first argument of a reaper.
const Command = "plugin-reaper"

// Over is what a host writes when it has ended its processes itself, so that nothing is left to do.
const Over = "over\n"

func init() {
	if len(os.Args) != 3 || os.Args[1] != Command {
		return
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if Await() {
		os.Exit(0)
	}
}

// Await waits until the host has ended, or says on the standard input that nothing is left, and reports whether it
// said so. It may be called again.
func Await() (over bool) {
	var b [len(Over)]byte
	n, err := os.Stdin.Read(b[:])
	return err == nil && n > 0
}
