// Package optuna_test tests the Optuna plugins: with their own tests, and in an experiment.
package optuna_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
)

// python returns an interpreter that has Optuna.
func python(t *testing.T) string {
	t.Helper()
	return toolchain.NeedPython(t, "optuna", "cmaes", "scipy", "tunehost")
}

// Runs the plugins' own tests, in Python.
func TestPython(t *testing.T) {
	cmd := exec.Command(python(t), "-W", "ignore", "-m", "unittest", "searcher_test", "scheduler_test")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// tunehost runs commands in a folder, with a python3 that has Optuna, or the one on the PATH.
type tunehost struct {
	program, dir, path string
}

func newTunehost(t *testing.T, path string) tunehost {
	t.Helper()
	program, err := toolchain.Tunehost()
	if err != nil {
		t.Fatal(err)
	}
	return tunehost{program, t.TempDir(), path}
}

func (h tunehost) run(args ...string) (string, error) {
	cmd := exec.Command(h.program, args...)
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "PATH="+h.path, "XDG_CONFIG_HOME="+h.dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (h tunehost) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := h.run(args...)
	if err != nil {
		t.Fatalf("tunehost %v: %v\n%s", args, err, out)
	}
	return out
}

func (h tunehost) write(t *testing.T, name, text string) {
	t.Helper()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(strings.ReplaceAll(text, "HERE", here)),
		0o600); err != nil {
		t.Fatal(err)
	}
}

// The script trains on a tree: momentum exists only with sgd.
const script = `
for i in 1 2 3 4; do
	awk -v lr="$TUNEHOST_PARAM_LR" -v m="${TUNEHOST_PARAM_MOMENTUM:-0.5}" -v i="$i" \
		'BEGIN { d = log(lr) / log(10) + 2; printf "{\"loss\": %g}\n", d * d + m + 1 / i }'
done
`

const experiment = `
version: 1
name: tree
seed: 3
objective: {metric: loss, mode: min}
trainable: {command: [sh, train.sh]}
plugins: [HERE]
space:
  optimizer: {choice: [sgd, adam]}
  lr: {loguniform: [1e-4, 1.0]}
  momentum: {uniform: [0, 1], when: optimizer == 'sgd'}
searcher: {plugin: optuna, sampler: tpe, arguments: {n_startup_trials: 6, multivariate: true, group: true}}
scheduler: {plugin: optuna, pruner: median, arguments: {n_startup_trials: 3}}
concurrency: 3
trials: 24
`

// TestExperiment runs the searcher and the scheduler in an experiment with a tree as its space, and
// checks the plugins.
func TestExperiment(t *testing.T) {
	h := newTunehost(t, filepath.Dir(python(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, kind := range []string{"searcher", "scheduler"} {
		dir, err := filepath.Abs(kind)
		if err != nil {
			t.Fatal(err)
		}
		if out := h.must(t, "plugins", "check", dir); !strings.Contains(out, " 0 failed") {
			t.Errorf("plugins check %s:\n%s", kind, out)
		}
	}
	h.write(t, "train.sh", script)
	h.write(t, "tree.yaml", experiment)
	h.must(t, "run", "tree.yaml", "--storage", "results")
	trials, pruned := 0, 0
	for line := range strings.Lines(h.must(t, "trials", "results/tree", "--json")) {
		var trial struct {
			Reason string
			Params map[string]any
		}
		if err := json.Unmarshal([]byte(line), &trial); err != nil {
			t.Fatal(err)
		}
		if _, has := trial.Params["momentum"]; has != (trial.Params["optimizer"] == "sgd") {
			t.Errorf("a trial has the parameters %v", trial.Params)
		}
		trials++
		if strings.HasPrefix(trial.Reason, "Optuna's MedianPruner: loss ") {
			pruned++
		}
	}
	if trials != 24 || pruned == 0 {
		t.Errorf("%d trials, %d of them pruned", trials, pruned)
	}
}

// TestMissing checks that a missing Optuna gives a message with the command to type.
func TestMissing(t *testing.T) {
	bin := t.TempDir()
	python := toolchain.Need(t, toolchain.Python)
	// A python3 that sees no installed packages.
	bare := "#!/bin/sh\nexec '" + python + "' -I -S \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "python3"), []byte(bare), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(".venv"); err == nil {
		t.Skip("there is a .venv with Optuna in this folder")
	}
	h := newTunehost(t, bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	h.write(t, "train.sh", script)
	h.write(t, "tree.yaml", experiment)
	out, err := h.run("run", "tree.yaml", "--storage", "results")
	if err == nil || !strings.Contains(out, "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt") {
		t.Errorf("%v\n%s", err, out)
	}
}
