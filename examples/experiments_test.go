package examples

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
)

// TestExperiments runs every experiment file of the examples as a user would, and checks the best
// trial. Those in Python need scikit-learn.
func TestExperiments(t *testing.T) {
	t.Parallel()
	bin := build(t)
	for _, c := range []struct {
		file   string
		trials int
		good   func(value float64) bool
	}{
		{"quickstart/experiment.yaml", 60, func(accuracy float64) bool { return accuracy > 0.97 }},
		{"shell/experiment.yaml", 20, func(loss float64) bool { return loss < 1e-3 }},
		{"pbt/experiment.yaml", 8, func(accuracy float64) bool { return accuracy > 0.97 }},
		{"crash/experiment.yaml", 10, func(accuracy float64) bool { return accuracy > 0.95 }},
		{"going-on/experiment.yaml", 12, func(accuracy float64) bool { return accuracy > 0.93 }},
		{"placement/experiment.yaml", 4, func(accuracy float64) bool { return accuracy > 0.9 }},
		{"python-script/print.yaml", 8, func(loss float64) bool { return loss < 0.15 }},
		{"python-script/channel.yaml", 8, func(loss float64) bool { return loss < 0.15 }},
	} {
		t.Run(strings.TrimSuffix(c.file, ".yaml"), func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(c.file, "python") || strings.HasPrefix(c.file, "placement") {
				needScikit(t)
			}
			storage := t.TempDir()
			// Files without a seed get a fixed one: the results must not depend on luck.
			bin.run(t, c.file, "--storage", storage, "--set", "seed=1")
			dirs, err := filepath.Glob(filepath.Join(storage, "*"))
			if err != nil || len(dirs) != 1 {
				t.Fatalf("%v %v, want one experiment", dirs, err)
			}
			if v := bin.best(t, dirs[0]); !c.good(v) {
				t.Errorf("the best value is %v", v)
			}
			if n := bin.ended(t, dirs[0]); n != c.trials {
				t.Errorf("%d trials ended well, want %d", n, c.trials)
			}
		})
	}
}

// TestAllExamples checks that a test runs every experiment file of the examples. Those of Kubernetes are run by
// make check-kubernetes.
func TestAllExamples(t *testing.T) {
	files, err := filepath.Glob("*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var source string
	for _, name := range []string{"experiments_test.go", "engines_test.go",
		"../plugins/executors/kubernetes/kubernetes_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source += string(text)
	}
	for _, f := range files {
		if !strings.Contains(source, `"`+filepath.ToSlash(f)+`"`) {
			t.Errorf("%s is not run by a test", f)
		}
	}
}

// binary is the path of the tunehost program.
type binary string

func build(t *testing.T) binary {
	t.Helper()
	path, err := toolchain.Tunehost()
	if err != nil {
		t.Fatal(err)
	}
	return binary(path)
}

// command runs tunehost in the folder dir, with the binary on the PATH of its programs.
func (b binary) command(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(string(b), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(string(b))+string(os.PathListSeparator)+os.Getenv("PATH"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tunehost %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return out
}

func (b binary) run(t *testing.T, file string, args ...string) {
	t.Helper()
	b.command(t, filepath.Dir(file), append([]string{"run", filepath.Base(file)}, args...)...)
}

func (b binary) best(t *testing.T, dir string) float64 {
	t.Helper()
	var best struct{ Value *float64 }
	if err := json.Unmarshal(b.command(t, ".", "best", dir, "--json"), &best); err != nil || best.Value == nil {
		t.Fatalf("best: %v %v", best, err)
	}
	return *best.Value
}

// ended returns the number of trials that are TERMINATED.
func (b binary) ended(t *testing.T, dir string) int {
	t.Helper()
	var status struct{ Counts map[string]int }
	if err := json.Unmarshal(b.command(t, ".", "status", dir, "--json"), &status); err != nil {
		t.Fatal(err)
	}
	return status.Counts["TERMINATED"]
}
