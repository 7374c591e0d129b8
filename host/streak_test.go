package host

import (
	"strings"
	"testing"
)

// Trial after trial that fails for the same reason is said once, while there is something to
// be done about it; a failure among trials that end well is not.
func TestFailuresInARow(t *testing.T) {
	const failing = `
version: 1
objective: {metric: x, mode: max}
trainable: {command: [sh, -c, '%s']}
space: {a: {uniform: [0, 1]}}
trials: 12
concurrency: 1
`
	for script, want := range map[string]int{
		`echo "no module named torch" >&2; exit 1`: 1,
		`exit 1`:          1, // the message names the trial's own stdout
		`kill -9 $$`:      1,
		`cat $PWD/absent`: 1,
		`n=$(basename $PWD | cut -c5); if [ $((n %% 2)) = 0 ]; then echo "{{\"x\": 1}}"; else echo no >&2; ` +
			`exit 1; fi`: 0,
	} {
		o, seen := quiet(t, strings.Replace(failing, "%s", strings.ReplaceAll(script, "%%", "%"), 1))
		if ended := finish(t, o); ended.Errored == 0 {
			t.Errorf("%s: %+v", script, ended)
		}
		if n := strings.Count(seen.String(), "5 trials in a row have failed with the same message before they "+
			"reported anything"); n != want {
			t.Errorf("%s: it was said %d times: %s", script, n, seen)
		}
	}
}
