package hosttest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hangs is what takes longer for sure: seconds are enough.
const hangs = 5 * time.Minute

// crowded is an experiment of hundreds of trials that last less than a
// millisecond each, many at a time on any machine.
const crowded = `version: 1
objective: {metric: loss, mode: min}
trainable: {plugin: %q, options: {epochs: 1}}
space: {lr: {loguniform: [1e-6, 1e-3]}, momentum: {uniform: [0, 0.9]}}
searcher: random
resources: {cpu: 0.125}
trials: %d
`

// Crowd has the command itself run hundreds of short trials of a trainable with
// the parameters lr and momentum and the option epochs. Each must finish, with
// its result. env is laid over the environment.
func Crowd(t *testing.T, trainable string, env ...string) {
	t.Helper()
	const trials = 300
	dir := t.TempDir()
	command := build(t)
	text := fmt.Appendf(nil, crowded, trainable, trials)
	if err := os.WriteFile(filepath.Join(dir, "crowd.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, env, command, "run", "crowd.yaml")
	finished := 0
	for line := range strings.Lines(run(t, dir, env, command, "trials", "results/crowd", "--json")) {
		var trial struct {
			State   string
			Metrics map[string]any
		}
		if err := json.Unmarshal([]byte(line), &trial); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if trial.State == "TERMINATED" && trial.Metrics["loss"] != nil {
			finished++
		}
	}
	if finished != trials {
		t.Errorf("%d of %d trials finished with a result", finished, trials)
	}
}

// build builds the command.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tunehost")
	cmd := exec.Command("go", "build", "-o", path, "github.com/tunehost/tunehost/cmd/tunehost")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// run runs a program that must succeed, and returns what it prints.
func run(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s%s", filepath.Base(program), args, err, out, stderr.String())
	}
	return string(out)
}
