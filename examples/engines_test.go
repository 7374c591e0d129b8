package examples

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/engines/ray"
	"github.com/tunehost/tunehost/internal/engines/slurm"
	"github.com/tunehost/tunehost/internal/toolchain"
)

// An engine is a place to run trials, as the file names it.
type engine struct{ plugins, executor string }

// onBatch is a small batch system of local processes.
func onBatch(t *testing.T) engine {
	t.Helper()
	queue, err := filepath.Abs("../plugins/executors/batch/testdata/queue.sh")
	if err != nil {
		t.Fatal(err)
	}
	return onQueue(queue + " " + t.TempDir() + " ")
}

// onQueue is the batch system whose commands begin with queue.
func onQueue(queue string) engine {
	return engine{executor: fmt.Sprintf("{plugin: batch, system: pbs, poll: 0.1, submit: %q, status: %q, cancel: %q, "+
		"list: %q}", queue+"submit {name} {nodes} {cpu} {script}", queue+"status {id}", queue+"cancel {id}",
		queue+"list {name}")}
}

// onRay is a Ray cluster of two nodes.
func onRay(t *testing.T) engine {
	t.Helper()
	c := ray.Start(t, ray.Options{})
	t.Setenv("PATH", filepath.Dir(c.Python)+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, e := range c.Env {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	folder, err := filepath.Abs("../plugins/executors/ray")
	if err != nil {
		t.Fatal(err)
	}
	return engine{plugins: "[" + folder + "]", executor: "ray"}
}

// onSlurm is a Slurm cluster of four nodes. Their network has no names.
func onSlurm(t *testing.T) engine {
	t.Helper()
	slurm.Start(t, slurm.Options{})
	return engine{executor: "slurm"}
}

// TestSlurmExamples: trials have the GPU that Slurm gave them, also on two nodes, and no job is left.
func TestSlurmExamples(t *testing.T) {
	toolchain.Need(t, toolchain.Python)
	bin := build(t)
	cluster := slurm.Start(t, slurm.Options{})
	for _, c := range []struct {
		file          string
		trials, ranks int
	}{{"slurm/gpu.yaml", 8, 1}, {"slurm/gang.yaml", 4, 2}} {
		storage := t.TempDir()
		bin.run(t, c.file, "--storage", storage)
		dir := filepath.Join(storage, strings.ReplaceAll(strings.TrimSuffix(c.file, ".yaml"), "/", "-"))
		if n := bin.ended(t, dir); n != c.trials {
			t.Errorf("%s: %d trials ended well, want %d", c.file, n, c.trials)
		}
		for _, nodes := range nodesOf(t, dir) {
			if len(nodes) != c.ranks {
				t.Errorf("%s: a trial ran on the nodes %v, want %d", c.file, nodes, c.ranks)
			}
		}
		if jobs := cluster.Run(t, "squeue", "-h", "-t", "PENDING,RUNNING"); jobs != "" {
			t.Errorf("%s: jobs are left: %s", c.file, jobs)
		}
	}
}

// place is what a process of these examples prints of its place.
var place = regexp.MustCompile(`rank \d of \d on (n\d) with GPU \d`)

// nodesOf are the nodes on which each trial of an experiment ran with a GPU.
func nodesOf(t *testing.T, dir string) (list []map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "trials", "*", "stderr"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		nodes := map[string]bool{}
		for _, m := range place.FindAllStringSubmatch(readFile(t, f), -1) {
			nodes[m[1]] = true
		}
		list = append(list, nodes)
	}
	return list
}

// quickstart runs the first trials of the quickstart, one at a time, and returns them as text.
func (e engine) quickstart(t *testing.T, bin binary) string {
	t.Helper()
	storage := t.TempDir()
	args := []string{"--storage", storage, "--set", "trials=4", "--set", "concurrency=1"}
	if e.plugins != "" {
		args = append(args, "--set", "plugins="+e.plugins)
	}
	if e.executor != "" {
		args = append(args, "--set", "executor="+e.executor)
	}
	bin.run(t, "quickstart/experiment.yaml", args...)
	return learned(t, bin, filepath.Join(storage, "quickstart"))
}

// learned is what the trials of an experiment were, and the best of them.
func learned(t *testing.T, bin binary, dir string) string {
	t.Helper()
	var text strings.Builder
	for line := range strings.Lines(string(bin.command(t, ".", "trials", dir, "--json"))) {
		var trial struct {
			Number    int
			State     string
			Params    map[string]any
			Metrics   map[string]float64
			Iteration int
		}
		if err := json.Unmarshal([]byte(line), &trial); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&text, trial)
	}
	return text.String() + fmt.Sprint(bin.best(t, dir))
}

// B-136. TestQuickstartOnEngines: the same seed, one trial at a time, makes the same suggestions and finds the
// same best, wherever trials run.
func TestQuickstartOnEngines(t *testing.T) {
	bin := build(t)
	here := engine{}.quickstart(t, bin)
	compare := func(t *testing.T, on engine) {
		t.Helper()
		if got := on.quickstart(t, bin); got != here {
			t.Errorf("there:\n%s\nhere:\n%s", got, here)
		}
	}
	t.Run("batch", func(t *testing.T) { compare(t, onBatch(t)) })
	t.Run("slurm", func(t *testing.T) { compare(t, onSlurm(t)) })
	t.Run("ray", func(t *testing.T) { // and its example: a cluster takes long to start
		on := onRay(t)
		compare(t, on)
		on.gang(t, bin)
		on.killed(t, bin)
		storage := t.TempDir()
		bin.run(t, "ray/experiment.yaml", "--storage", storage)
		if n := bin.ended(t, filepath.Join(storage, "ray")); n != 8 {
			t.Errorf("%d trials of the example ended well, want 8", n)
		}
	})
}

// gang runs a trial of two processes on two nodes, each with a GPU of its own.
func (e engine) gang(t *testing.T, bin binary) {
	t.Helper()
	dir := t.TempDir()
	text := `version: 1
name: gang
objective: {metric: loss, mode: min}
space: {x: {uniform: [0, 1]}}
trials: 1
trainable:
  command: [sh, -c, 'echo "$RANK of $WORLD_SIZE, GPU $CUDA_VISIBLE_DEVICES, $(env | grep -c ^RAY_) of Ray" >&2;
    [ $RANK != 0 ] || echo "{{\"loss\": 1}}"']
placement: {bundles: [{cpu: 1, gpu: 1}, {cpu: 1, gpu: 1}], strategy: strict_spread, workers: true}
plugins: ` + e.plugins + "\nexecutor: " + e.executor + "\n"
	file := filepath.Join(dir, "gang.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	bin.run(t, file, "--storage", dir)
	for rank, name := range []string{"stderr", "stderr.1"} {
		files, _ := filepath.Glob(filepath.Join(dir, "gang", "trials", "*", name))
		want := fmt.Sprintf("%d of 2, GPU 0, 0 of Ray\n", rank)
		if len(files) != 1 {
			t.Fatalf("%v, want one %s", files, name)
		}
		if got, err := os.ReadFile(files[0]); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}

// counting has trials that count to four, and save each number. One that begins at zero stays at two.
const counting = `version: 1
name: counting
seed: 1
objective: {metric: count, mode: max}
space: {x: {uniform: [0, 1]}}
trials: 2
concurrency: 2
deadlines: {start: 10m, open: 10m} # Ray is slow to start on a busy machine
trainable:
  command: [sh, -c, 'n=0; [ -z "$TUNEHOST_CHECKPOINT" ] || n=$(cat "$TUNEHOST_CHECKPOINT/n"); echo "from $n" >&2;
    while [ $n -lt 4 ]; do n=$((n + 1)); mkdir "saved.$n"; echo $n > "saved.$n/n";
    echo "{{\"count\": $n, \"checkpoint\": \"saved.$n\"}}";
    [ $n != 2 ] || [ -n "$TUNEHOST_CHECKPOINT" ] || exec sleep 1000; done']
`

// B-134: the placement groups of Ray outlive a host that is killed. The next one has the same, and its trials continue
// from their last checkpoints.
func (e engine) killed(t *testing.T, bin binary) {
	t.Helper()
	folder := t.TempDir()
	file, dir := filepath.Join(folder, "counting.yaml"), filepath.Join(folder, "counting")
	text := counting + "plugins: " + e.plugins + "\nexecutor: " + e.executor + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	host := exec.Command(string(bin), "run", file, "--storage", folder)
	var said bytes.Buffer
	host.Stdout, host.Stderr = &said, &said
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- host.Wait() }()
	journal := func() string {
		text, _ := exec.Command(string(bin), "journal", dir).Output() // there is none yet, at first
		return string(text)
	}
	for strings.Count(journal(), "checkpoint saved") < 4 { // two of each trial
		select {
		case err := <-ended:
			t.Fatalf("the host has ended (%v):\n%s", err, &said)
		case <-time.After(100 * time.Millisecond):
		}
	}
	_ = host.Process.Kill()
	<-ended
	bin.command(t, ".", "resume", dir)
	if n := bin.ended(t, dir); n != 2 {
		t.Errorf("%d trials ended well, want 2", n)
	}
	if events := journal(); strings.Contains(events, "lease=3") || strings.Contains(events, "lease lost") {
		t.Errorf("the leases are not the same:\n%s", events)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "trials", "*", "stderr"))
	for _, f := range files {
		if got := readFile(t, f); got != "from 0\nfrom 2\n" {
			t.Errorf("%s: %q", f, got)
		}
	}
	if len(files) != 2 {
		t.Errorf("%v have no output", files)
	}
}

// B-134: the jobs of a batch system outlive a host that is killed; the next one continues with them, submits no other
// for the trials that run, and leaves none.
func TestHostKilledOnBatch(t *testing.T) {
	bin, storage, dir := build(t), t.TempDir(), t.TempDir()
	queue, err := filepath.Abs("../plugins/executors/batch/testdata/queue.sh")
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(queue, dir, "serve") // so that jobs are no children of the host
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command(queue, dir, "end").Run()
		_ = server.Wait()
	})
	go1, go2 := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	file := filepath.Join(storage, "e.yaml")
	text := "version: 1\nname: e\nseed: 1\nobjective: {metric: loss, mode: min}\nspace: {x: {uniform: [0, 1]}}\n" +
		"trainable: {command: [sh, -c, 'echo \"{{\\\"loss\\\": 1}}\"; touch " + go1 + "; while [ ! -e " + go2 +
		" ]; do sleep 0.1; done; echo \"{{\\\"loss\\\": 2}}\"']}\ntrials: 2\nconcurrency: 1\nexecutor: " +
		onQueue(queue+" "+dir+" ").executor + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	host := exec.Command(string(bin), "run", file, "--storage", storage)
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	for { // until the first trial runs
		if _, err := os.Stat(go1); err == nil {
			break
		}
		select {
		case <-t.Context().Done():
			t.Fatal("no trial began")
		case <-time.After(20 * time.Millisecond):
		}
	}
	_ = host.Process.Kill()
	_ = host.Wait()
	if err := os.WriteFile(go2, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	bin.command(t, ".", "resume", filepath.Join(storage, "e"))
	if n := bin.ended(t, filepath.Join(storage, "e")); n != 2 {
		t.Errorf("%d trials ended well, want 2", n)
	}
	states, _ := filepath.Glob(filepath.Join(dir, "jobs", "*", "state"))
	if len(states) != 1 {
		t.Errorf("%d jobs were submitted, want 1", len(states))
	}
	for _, s := range states {
		if text, err := os.ReadFile(s); err != nil || string(text) != "F\n" {
			t.Errorf("%s: %q, %v", s, text, err)
		}
	}
}
