package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/internal/testplace"
)

// killedAtStart is an experiment whose trainable is killed the first times that its
// process starts; starts counts them.
func killedAtStart(t *testing.T, times int) (o Options, seen *testplace.Screen, starts func() int) {
	t.Helper()
	o, seen = quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: ./frail, options: {any_params: true}}
space: {x: {uniform: [0, 1]}}
trials: 1
`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(o.File)
	count := filepath.Join(dir, "starts")
	script := fmt.Sprintf("#!/bin/sh\necho >> '%s'\n[ $(wc -l < '%[1]s') -gt %d ] || kill -9 $$\n"+
		"exec '%s' plugin-serve trainable chaos\n", count, times, self)
	if err := os.WriteFile(filepath.Join(dir, "frail"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return o, seen, func() int {
		text, _ := os.ReadFile(count)
		return strings.Count(string(text), "\n")
	}
}

// B-077: a trainable whose process is killed while it starts is started again, as a
// searcher is.
func TestTrainableKilledAtStart(t *testing.T) {
	o, seen, _ := killedAtStart(t, 2)
	if ended := finish(t, o); ended.Outcome != core.Finished || ended.Errored != 0 {
		t.Errorf("%+v\n%s", ended, seen)
	}
	contains(t, seen.String(),
		`warning: trainable "./frail" is started again: was ended by signal 9 (killed) before it was ready`,
		`warning: trainable "./frail" is started again: the same failure has happened again`)
}

// B-077: the third time it is given up. That is no mistake of the user's, and the line
// names no log that is not there.
func TestTrainableKilledAtEachStart(t *testing.T) {
	o, _, starts := killedAtStart(t, 1000)
	_, err := run(t.Context(), o)
	var mistake *UserError
	if !errors.Is(err, plugin.ErrGaveUp) || errors.As(err, &mistake) || starts() != plugin.MaxFailures {
		t.Fatalf("%T %v after %d starts", err, err, starts())
	}
	contains(t, err.Error(), `trainable "./frail" failed 3 times at the same call, and is given up; the last time: `)
	if _, log, named := strings.Cut(err.Error(), "its log: "); named {
		if _, missing := os.Stat(log); missing != nil {
			t.Error(missing)
		}
	}
}
