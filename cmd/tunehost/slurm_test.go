package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/internal/engines/slurm"
)

// TestSlurm runs the scripts of testdata/slurm on a real cluster, and kills hosts there.
func TestSlurm(t *testing.T) {
	hidden := t.TempDir()
	cluster := slurm.Start(t, slurm.Options{Nodes: 4, Hide: hidden})
	t.Run("sent program", func(t *testing.T) { testSentProgram(t, hidden) })
	t.Run("killed host", func(t *testing.T) { testKilledHost(t, cluster) })
	t.Run("plain user", func(t *testing.T) { testPlainUser(t, cluster) })
	t.Run("ends", func(t *testing.T) { // some wait for the end of a minute
		bin := builtHere(t)
		for name, test := range map[string]func(*ending){"short jobs": testShortJobs, "allocations": testAllocations,
			"timeout": testTimeout, "timeout of tasks": testTimeoutOfTasks, "cancelled": testCancelledJobs,
			"stdio array": testStdioArray, "polite": testPoliteEnds, "polite with stdio": testPoliteStdioEnds} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(&ending{t: t, c: cluster, dir: t.TempDir(), bin: bin})
			})
		}
	})
	port, second := freePort(t), freePort(t) // scripts run beside each other
	cluster.Block(t, port)
	cluster.Block(t, second)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/slurm",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			runtime, err := os.MkdirTemp("/tmp", "rt-") // its path is short
			e.Setenv("XDG_RUNTIME_DIR", runtime)
			e.Setenv("SLURM_CONF", cluster.Conf)
			e.Setenv("BLOCKED_PORT", strconv.Itoa(port))
			e.Setenv("SECOND_BLOCKED_PORT", strconv.Itoa(second))
			e.Setenv("HIDDEN", hidden)
			e.Defer(func() { _ = os.RemoveAll(runtime) })
			return err
		},
	})
}

// TestSlurmPreemption runs the scripts of testdata/slurm-preemption on clusters whose preempted jobs get SIGTERM, as is
// usual, or the signal that they have asked for instead.
func TestSlurmPreemption(t *testing.T) {
	for name, user := range map[string]bool{"SIGTERM": false, "user signal": true} {
		t.Run(name, func(t *testing.T) {
			cluster := slurm.Start(t, slurm.Options{Nodes: 2, UserSignal: user})
			testscript.Run(t, testscript.Params{
				Dir:                 "testdata/slurm-preemption",
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				Setup: func(e *testscript.Env) error {
					e.Setenv("SLURM_CONF", cluster.Conf)
					return nil
				},
			})
		})
	}
}

// freePort is a port of this machine on which nobody listens.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// B-137: a program that nodes do not see is sent to them, once to each, and again if somebody has changed it
// there. The nodes of this cluster share one /tmp.
// testSentReporter checks that a script on a node that was sent the program finds it.
func testSentReporter(t *testing.T, bin string) {
	t.Helper()
	dir := t.TempDir()
	file := `{version: 1, name: x, objective: {metric: a, mode: max}, space: {x: {uniform: [0, 1]}}, trials: 1,
trainable: {command: [bash, -c, "tunehost report a=0.5"]}, executor: {plugin: slurm, send: true}}`
	if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "run", "x.yaml")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "best a 0.5") {
		t.Errorf("%v: %s", err, out)
	}
}

func testSentProgram(t *testing.T, hidden string) {
	bin := filepath.Join(hidden, "tunehost")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sum, err := process.HashFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	there := fmt.Sprintf("/tmp/tunehost-files-%d/agent-%s", os.Getuid(), sum)
	t.Cleanup(func() { _ = os.Remove(there) })
	doctor := func() {
		t.Helper()
		cmd := exec.Command(bin, "doctor", "--executor", "{plugin: slurm, send: true, connection: stdio}")
		cmd.Dir = hidden
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "the node does not see") {
			t.Fatalf("%v: %s", err, out)
		}
		if got, err := process.HashFile(there); err != nil || got != sum {
			t.Fatalf("the node has %s, %v; want %s", got, err, sum)
		}
	}
	doctor()
	testSentReporter(t, bin)
	first, err := os.Stat(there)
	if err != nil || first.Mode().Perm() != 0o700 {
		t.Fatal(first, err)
	}
	doctor()
	if again, err := os.Stat(there); err != nil || !os.SameFile(first, again) {
		t.Error("it was sent again", err)
	}
	if err := os.Remove(there); err != nil { // an agent may still be ending: it cannot be written
		t.Fatal(err)
	}
	if err := os.WriteFile(there, []byte("#!/bin/sh\necho evil\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	doctor()
	if parts, _ := filepath.Glob(there + "*.part"); len(parts) > 0 {
		t.Error(parts)
	}
}

// endless has trials that print a result now and then until they are stopped.
const endless = `version: 1
name: endless
objective: {metric: loss, mode: min}
trainable: {command: [sh, -c, 'while :; do echo "{{\"loss\": 1}}"; sleep 0.2; done']}
space: {x: {uniform: [0, 1]}}
trials: 4
concurrency: 4
executor: slurm
resources: {cpu: 1, memory: 100MiB}
`

// plainFile is an experiment of a user who has written a program for it.
const plainFile = `version: 1
name: plain
seed: 1
objective: {metric: loss, mode: min}
trainable: {command: [sh, train.sh]}
space: {x: {uniform: [0, 1]}}
trials: 4
concurrency: 1
`

// testPlainUser has a user who is not root run an experiment with nothing but the program and the commands of Slurm: no
// Go is on the PATH, and the program is in the user's own folder.
func testPlainUser(t *testing.T, c *slurm.Cluster) {
	const nobody = 65534
	home, err := os.MkdirTemp("/tmp", "plain-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	bin := filepath.Join(home, "tunehost")
	build := exec.Command("go", "build", "-o", bin, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, text := range map[string]string{"plain.yaml": plainFile,
		"train.sh": `echo "{\"loss\": $TUNEHOST_PARAM_X}"; id -u >&2` + "\n"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(bin, args...)
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "USER=nobody", "LOGNAME=nobody", "PATH=/usr/bin:/bin",
			"SLURM_CONF=" + c.Conf}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
		return string(out)
	}
	run("doctor", "--executor", "slurm")
	best := func(name string, args ...string) (b struct{ Params, Metrics map[string]float64 }) {
		t.Helper()
		run(append([]string{"run", "plain.yaml", "--name", name, "-v", "0"}, args...)...)
		if err := json.Unmarshal([]byte(run("best", "results/"+name, "--json")), &b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	there, here := best("plain", "--set", "executor=slurm"), best("here")
	if len(there.Params) != 1 || !reflect.DeepEqual(there, here) {
		t.Errorf("on Slurm: %v; here: %v", there, here)
	}
	said, err := filepath.Glob(filepath.Join(home, "results", "plain", "trials", "*", "stderr"))
	for _, path := range said {
		if text, err := os.ReadFile(path); err != nil || string(text) != fmt.Sprintln(nobody) {
			t.Errorf("%s: %q %v", path, text, err)
		}
	}
	if err != nil || len(said) != 4 {
		t.Error(said, err)
	}
}

// B-133, B-134: a host that is killed takes its jobs back without queueing; a trial whose job is cancelled
// continues in another; after an interruption no job is left. The jobs are the tasks of an array.
func testKilledHost(t *testing.T, c *slurm.Cluster) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "tunehost")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "endless.yaml"), []byte(endless), 0o600); err != nil {
		t.Fatal(err)
	}
	host := func(args ...string) *exec.Cmd {
		cmd := exec.Command(bin, args...)
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return cmd
	}
	jobs := func() []string {
		list := strings.Fields(c.Run(t, "squeue", "-h", "-t", "RUNNING,PENDING", "-o", "%i"))
		slices.Sort(list)
		return list
	}
	results := func() int {
		out, _ := exec.Command(bin, "journal", filepath.Join(dir, "results", "endless")).Output()
		return strings.Count(string(out), "result reported")
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("not so within two minutes: ", what)
			}
		}
	}
	first := host("run", "endless.yaml")
	until("results of all jobs", func() bool { return len(jobs()) == 4 && results() > 8 })
	before, had := jobs(), results()
	if !strings.Contains(before[0], "_") {
		t.Errorf("the jobs %v are no tasks", before)
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	second := host("resume", filepath.Join("results", "endless"))
	until("results after a kill", func() bool { return results() > had+16 })
	if now := jobs(); !slices.Equal(now, before) {
		t.Errorf("the jobs are %v after the kill, and were %v", now, before)
	}
	c.Run(t, "scancel", before[0])
	until("another job", func() bool { now := jobs(); return len(now) == 4 && !slices.Contains(now, before[0]) })
	had = results()
	until("results of it", func() bool { return results() > had+16 })
	_ = second.Process.Signal(syscall.SIGINT)
	_ = second.Wait() // interrupted
	until("no job", func() bool { return len(jobs()) == 0 })
	for _, node := range []string{"n1", "n2", "n3", "n4"} {
		until("no process on "+node, func() bool { return len(c.Processes(t, node)) == 0 })
	}
}

// lasting has trials that are longer than their jobs, and save each second result.
const lasting = `version: 1
name: lasting
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: @N@, sleep: 1, any_params: true}}
space: {quality: {uniform: [0, 1]}}
checkpoint: {every: 2}
failures: {retries: 0}
trials: 2
concurrency: 2
executor: {plugin: slurm, notice: 35@MORE@}
resources: {cpu: 1, memory: 50MiB}
`

// ending is an experiment on the cluster that a test follows.
type ending struct {
	t        *testing.T
	c        *slurm.Cluster
	dir, bin string
}

// builtHere builds the program.
func builtHere(t *testing.T) (bin string) {
	t.Helper()
	bin = filepath.Join(t.TempDir(), "tunehost")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

// writes makes the file of the experiment: pairs of what is replaced follow the text.
func (e *ending) writes(text string, pairs ...string) {
	e.t.Helper()
	text = strings.NewReplacer(pairs...).Replace(text)
	if err := os.WriteFile(filepath.Join(e.dir, "lasting.yaml"), []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

func (e *ending) command(args ...string) *exec.Cmd {
	cmd := exec.Command(e.bin, args...)
	cmd.Dir = e.dir
	return cmd
}

// says runs the program and returns what it prints.
func (e *ending) says(args ...string) string {
	out, _ := e.command(args...).CombinedOutput()
	return string(out)
}

func (e *ending) until(what string, holds func() bool) {
	e.t.Helper()
	for end := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			e.t.Fatalf("not so within five minutes: %s\n%s", what, e.says("journal", "results/lasting"))
		}
	}
}

// wholeTrials checks that each trial has all results, and that no attempt failed.
func (e *ending) wholeTrials(trials, results int) {
	e.t.Helper()
	for trial := range trials {
		out := e.says("results", "results/lasting", strconv.Itoa(trial), "--json")
		if n := strings.Count(out, `"iteration"`); n != results {
			e.t.Errorf("trial %d has %d results, want %d:\n%s", trial, n, results, out)
		}
	}
	if journal := e.says("journal", "results/lasting"); strings.Contains(journal, "cause=trainable") {
		e.t.Errorf("an attempt failed:\n%s", journal)
	}
}

// B-132: trials that are longer than the time limit of a job run in several.
func testShortJobs(e *ending) {
	const results = 30
	e.writes(lasting, "@N@", strconv.Itoa(results), "@MORE@", ", time: 1m")
	if out := e.says("run", "lasting.yaml"); !strings.Contains(out, "2 terminated") {
		e.t.Errorf("it said:\n%s", out)
	}
	e.wholeTrials(2, results)
	if journal := e.says("journal", "results/lasting"); !strings.Contains(journal, "lease ending") {
		e.t.Errorf("no lease ended:\n%s", journal)
	}
}

// B-132: a host in an allocation that ends saves, and the host in the next one continues.
func testAllocations(e *ending) {
	const results = 30
	t, c := e.t, e.c
	e.writes(lasting, "@N@", strconv.Itoa(results), "@MORE@", "")
	script := filepath.Join(e.dir, "run.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec "+e.bin+" run lasting.yaml\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	submit := func() string {
		return c.Run(t, "sbatch", "--parsable", "--time=1", "--nodes=2", "--ntasks-per-node=2", "--mem=500",
			"--chdir="+e.dir, "--output="+filepath.Join(e.dir, "%j.out"), script)
	}
	first := submit()
	e.until("leases wait for the next allocation", func() bool {
		return strings.Contains(e.says("journal", "results/lasting"), "tunehost resume in the next one continues")
	})
	ended := func(id string) func() bool {
		return func() bool { return c.Run(t, "squeue", "-h", "-t", "PENDING,RUNNING,COMPLETING", "-j", id) == "" }
	}
	e.until("the allocation ends", ended(first))
	out, err := os.ReadFile(filepath.Join(e.dir, first+".out"))
	if err != nil {
		t.Fatal(err)
	}
	for _, noise := range []string{"ended by signal", "slurm_script: line", "started again"} {
		if strings.Contains(string(out), noise) {
			t.Errorf("%q is of no use to the user:\n%s", noise, out)
		}
	}
	for range 3 {
		if strings.Contains(e.says("status", "results/lasting"), "finished") {
			break
		}
		id := submit()
		e.until("the next allocation ends", ended(id))
	}
	e.wholeTrials(2, results)
}
