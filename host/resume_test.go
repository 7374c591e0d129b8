package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core/resource"
)

const twoTrials = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 2, any_params: true}}
space: {quality: {uniform: [0, 1]}}
trials: 2
`

// What is gone from the file is gone from the experiment that continues (B-083).
func TestResumeTakesRemovals(t *testing.T) {
	o, _ := quick(t, twoTrials+"resources: {cpu: 1, licence: 1}\nstop: {score: 0.5}\n")
	o.Resources = "cpu=2,licence=1"
	finish(t, o)
	text := strings.Replace(strings.TrimLeft(twoTrials, "\n"), "trials: 2", "trials: 3", 1) + "resources: {cpu: 1}\n"
	if err := os.WriteFile(o.File, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Resources = "cpu=2" // no licence any more
	ended := finish(t, o)
	m := audit(t, ended.Dir, nil)
	if n := m.Trials(); n != 3 {
		t.Errorf("%d trials", n)
	}
	for _, b := range m.Spec().Request.Bundles() {
		if !b.Get("licence").IsZero() || b.Get(resource.CPU).IsZero() {
			t.Errorf("asks for %v", b.Items())
		}
	}
	if rules := m.Spec().Stop.Metrics; len(rules) != 0 {
		t.Errorf("stops by %v", rules)
	}
}

// Each failure is told with the attempt that failed, though the next may have
// begun (B-071, B-091).
func TestAttemptsOfFailures(t *testing.T) {
	o, _ := quick(t, strings.Replace(twoTrials, "any_params: true", "any_params: true, fail_at: 1",
		1)+"failures: {retries: 1}\n")
	ended := finish(t, o)
	files, err := filepath.Glob(filepath.Join(ended.Dir, "trials", "*", "error.txt"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		contains(t, string(b), "attempt 1 (", "attempt 2 (")
	}
}

// The way on has the flags that made the experiment what it is (B-123).
func TestHowToContinue(t *testing.T) {
	o, seen := quick(t, strings.Replace(twoTrials, "any_params: true", "any_params: true, fail_at: 1", 1))
	o.Name, o.Sets = "other", []string{"trials=1"}
	finish(t, o)
	contains(t, seen.String(), "--set trials=1 --storage "+o.Storage+" --name other --errored")
}

// B-082: prompt asks where there is an experiment, and there alone. Without a yes it is left as it is.
func TestPromptAsks(t *testing.T) {
	o, _ := quick(t, twoTrials)
	asked, answer := "", false
	o.Resume, o.Ask = "prompt", func(question string) bool { asked = question; return answer }
	ended := finish(t, o)
	if asked != "" {
		t.Errorf("asked %q where there was nothing", asked)
	}
	more := strings.Replace(strings.TrimLeft(twoTrials, "\n"), "trials: 2", "trials: 3", 1)
	if err := os.WriteFile(o.File, []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, refused(t, o), ended.Dir+": left as it is; give the new experiment another --name")
	contains(t, asked, "There is an experiment in "+ended.Dir+". Continue with it?")
	nobody := o
	nobody.Ask = nil
	contains(t, refused(t, nobody), "left as it is")
	if n := audit(t, ended.Dir, nil).Trials(); n != 2 {
		t.Errorf("%d trials, though nobody said yes", n)
	}
	answer = true
	if n := audit(t, finish(t, o).Dir, nil).Trials(); n != 3 {
		t.Errorf("%d trials after a yes, want 3", n)
	}
}
