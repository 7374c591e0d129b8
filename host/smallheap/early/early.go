// Package early has a program start without collections of garbage: imported for its effect, it enlarges the room of
// a small heap before most packages initialize themselves, which makes a third of the processor time of a start.
// Package smallheap takes over in function main, so only programs that call [smallheap.Adapt] there may import it.
//
// Go initializes packages that need little, as this one does, before those that need more. Should that change, starts
// take longer and nothing else is different.
package early

import (
	"os"
	"runtime/debug"
)

func init() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(800)
	}
}
