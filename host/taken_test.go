package host

import (
	"strings"
	"testing"
)

// B-080: what is taken away or cut while a host runs is said in one line, and the run does
// not end well, also where nothing of it was needed any more.
func TestTakenAway(t *testing.T) {
	for what, c := range map[string]struct{ do, want string }{
		"trials removed":  {"rm -rf ../../trials", "trials was removed or moved away"},
		"trials moved":    {"mv ../../trials ../../elsewhere", "trials was removed or moved away"},
		"journal cut":     {"truncate -s 100 ../../journal/*.tj", "was changed by somebody else"},
		"journal removed": {"rm -rf ../../journal", "was removed or moved away"},
		"all removed":     {"rm -rf ../../../test", "was removed or moved away"},
	} {
		for _, trials := range []string{"1", "20"} {
			t.Run(what+" of "+trials, func(t *testing.T) {
				t.Parallel()
				o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable:
  command: [sh, -c, 'echo "{{\"score\": {x}}}"; `+c.do+`']
space: {x: {uniform: [0, 1]}}
trials: `+trials+`
concurrency: 1
`)
				_, err := Run(t.Context(), o)
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v, want %q", err, c.want)
				}
			})
		}
	}
}
