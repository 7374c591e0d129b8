package exec_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// An executor that has never allocated does not answer again when it only takes leases back: the request that it failed
// to was given up.
func TestAnswersAgain(t *testing.T) {
	for _, fault := range []error{errors.New("no such queue"), errDead} {
		for _, works := range []bool{false, true} {
			e := &engine{script: map[string][]error{"Allocate": slices.Repeat([]error{fault}, 1e5)}}
			w := begin(t, e)
			w.ask(1, "cpu=1")
			w.log.Await(t, "it is tried again until it answers; trials wait")
			if works {
				e.mu.Lock()
				e.script = nil
				e.mu.Unlock()
				w.log.Await(t, `executor "test" answers again`)
			}
			w.release(1)
			w.Close(t.Context())
			if got := strings.Count(w.log.String(), "answers again"); (got == 1) != works {
				t.Errorf("%v: it works: %t, and %d times it is said to answer again", fault, works, got)
			}
		}
	}
}
