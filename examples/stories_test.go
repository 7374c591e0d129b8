package examples

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// trial has the fields of a line of `trials --json` that these tests use.
type trial struct {
	State     string
	Iteration int
	Results   int
	Exports   []struct{ Format, Dir string }
}

func (b binary) trials(t *testing.T, dir string) (list []trial) {
	t.Helper()
	for line := range strings.Lines(string(b.command(t, ".", "trials", dir, "--json"))) {
		var x trial
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, x)
	}
	return list
}

// TestPBT checks that trials continue from each other's checkpoints and export their networks.
func TestPBT(t *testing.T) {
	t.Parallel()
	bin, storage := build(t), t.TempDir()
	bin.run(t, "pbt/experiment.yaml", "--storage", storage, "--resources", "cpu=2") // fewer CPUs than trials
	dir := filepath.Join(storage, "pbt")
	for i, x := range bin.trials(t, dir) {
		if x.Iteration != 24 {
			t.Errorf("trial %d ends at iteration %d", i, x.Iteration)
		}
		if len(x.Exports) != 1 || x.Exports[0].Format != "json" || x.Exports[0].Dir == "" {
			t.Errorf("trial %d: exports %+v", i, x.Exports)
		}
	}
	manifests, err := filepath.Glob(filepath.Join(dir, "trials", "*", "checkpoints", "*", "MANIFEST.json"))
	if err != nil {
		t.Fatal(err)
	}
	copied := 0
	for _, path := range manifests {
		var m struct {
			Trial  int
			Parent *struct{ Trial int }
		}
		if err := json.Unmarshal([]byte(readFile(t, path)), &m); err != nil {
			t.Fatal(err)
		}
		if m.Parent != nil && m.Parent.Trial != m.Trial {
			copied++
		}
	}
	if copied == 0 {
		t.Errorf("none of %d checkpoints has a parent of another trial", len(manifests))
	}
}

// TestCrash kills the host; the same command continues, and no result is lost or counted twice.
func TestCrash(t *testing.T) {
	t.Parallel()
	bin := build(t)
	storage := t.TempDir()
	for tries := 1; !bin.killed(t, storage); tries++ {
		if tries == 10 {
			t.Fatal("every run ended before the kill")
		}
		storage = t.TempDir()
	}
	dir := filepath.Join(storage, "crash")
	bin.run(t, "crash/experiment.yaml", "--storage", storage)
	list := bin.trials(t, dir)
	for i, x := range list {
		if x.State != "TERMINATED" || x.Results != 12 {
			t.Errorf("trial %d is %s with %d results", i, x.State, x.Results)
		}
	}
	if len(list) != 10 {
		t.Errorf("%d trials", len(list))
	}
	bin.command(t, ".", "replay", dir)
}

// killed starts the experiment and kills it at its third trial. It returns false if the experiment
// ended first.
func (b binary) killed(t *testing.T, storage string) bool {
	t.Helper()
	host := exec.Command(string(b), "run", "experiment.yaml", "--storage", storage)
	host.Dir = "crash"
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Process.Kill() })
	for end := time.Now().Add(5 * time.Minute); !b.busy(filepath.Join(storage,
		"crash")); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the third trial does not start")
		}
	}
	_ = host.Process.Kill() // it may have ended already
	return host.Wait() != nil
}

// busy reports whether a third trial has begun.
func (b binary) busy(dir string) bool {
	out, err := exec.Command(string(b), "trials", dir, "--json").Output()
	return err == nil && strings.Count(string(out), "\n") >= 3
}

// TestGoingOn follows the README.
func TestGoingOn(t *testing.T) {
	t.Parallel()
	bin, storage := build(t), t.TempDir()
	first := filepath.Join(storage, "first")
	for _, step := range []struct {
		args []string
		dir  string
		want int
	}{
		{nil, first, 12},
		{[]string{"--set", "trials=20"}, first, 20},
		{[]string{"--set", "trials=32", "--set", "searcher=tpe", "--extend"}, first, 32},
		{[]string{"--name", "second", "--set", "searcher=tpe", "--set", "learn_from=" + first},
			filepath.Join(storage, "second"), 12},
	} {
		bin.run(t, "going-on/experiment.yaml", append(step.args, "--storage", storage)...)
		if n := bin.ended(t, step.dir); n != step.want {
			t.Errorf("%v: %d trials ended well, want %d", step.args, n, step.want)
		}
	}
}
