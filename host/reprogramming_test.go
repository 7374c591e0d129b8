package host

import (
	"os"
	"strings"
	"testing"
)

// An experiment that continues with another program says so, once.
func TestAnotherProgram(t *testing.T) {
	const text = `
version: 1
objective: {metric: loss, mode: min}
trainable: {command: [sh, -c, 'echo "{\"loss\": {x}}"'], env: {A: "1"}}
space: {x: {uniform: [0, 1]}}
trials: 1
`
	o, seen := quiet(t, text)
	o.Verbose = 1
	finish(t, o)
	other := strings.NewReplacer("{x}}", "1}", `A: "1"`, `A: "2"`).Replace(text)
	if err := os.WriteFile(o.File, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	finish(t, o)
	contains(t, seen.String(), "warning: "+o.File+":4:", "changed: trainable.command, trainable.env: trials from now "+
		"on run another program")
	finish(t, o)
	if n := strings.Count(seen.String(), "run another program"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, seen)
	}
}
