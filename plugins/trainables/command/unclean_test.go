package command

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-150: the exit of a stopped program does not fail its trial; if the clean-up failed, or was cut
// short, the user sees a warning. A program that the signal ended has no clean-up, and causes no
// warning.
func TestUncleanEnd(t *testing.T) {
	const wait = `echo '{"accuracy":1}'; while :; do sleep 0.01; done`
	for name, c := range map[string]struct {
		o     opts
		grace float64
		want  string
	}{
		"failed when signalled": {o: sh(`trap 'echo oops >&2; exit 3' TERM; ` + wait),
			want: "trial 17 failed while it cleaned up after its stop: exit status 3; see "},
		"no log": {o: sh(`trap 'exit 3' TERM; `+wait).with("log", false),
			want: "after its stop: exit status 3"},
		"crashed": {o: sh(`trap 'kill -SEGV $$' TERM; ` + wait), want: "after its stop: signal 11"},
		"failed when told": {o: python(t, pythonChannel+`
assert report(metrics={"accuracy": 1})["decision"] == "stop"
1/0
`), want: "trial 17 failed while it cleaned up after its stop: exit status 1; see "},
		"outstayed": {o: python(t, pythonChannel+`
import time
assert report(metrics={"accuracy": 1})["decision"] == "stop"
time.sleep(1000)
`), grace: 0.01, want: "trial 17 did not end within stop_grace (10ms) of its stop and was killed"},
		"handles nothing":        {o: sh(wait)},
		"its child ended":        {o: sh(`sh -c "` + strings.ReplaceAll(wait, `"`, `\"`) + `"; exit $?`)},
		"says that it was ended": {o: sh(`trap 'exit 143' TERM; ` + wait)},
		"cleaned up":             {o: sh(`trap 'exit 0' TERM; ` + wait)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := newRun(t)
			run.decide = stopAtFirst
			if run.trial.GraceSeconds = 600; c.grace > 0 {
				run.trial.GraceSeconds = c.grace
			}
			if err := train(t, c.o, run); err != sdk.ErrStopped {
				t.Error(err)
			}
			switch hint := run.hinted(); {
			case c.want == "" && hint != "":
				t.Errorf("the user is told %q", hint)
			case !strings.Contains(hint, c.want) || strings.Contains(hint, "\n"):
				t.Errorf("the user is told %q", hint)
			case name == "no log" && strings.Contains(hint, "see"):
				t.Errorf("it refers to a log: %q", hint)
			}
		})
	}
}
