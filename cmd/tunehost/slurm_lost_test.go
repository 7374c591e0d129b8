package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// stubborn has trials that go on until their job is ended by force.
const stubborn = `version: 1
name: lasting
objective: {metric: loss, mode: min}
trainable: {command: [sh, -c, 'trap "" TERM; while :; do echo "{{\"loss\": 1}}"; sleep 0.5; done']}
space: {x: {uniform: [0, 1]}}
trials: @N@
concurrency: @N@
stop_grace: 10m
executor: {plugin: slurm@MORE@}
resources: {cpu: 1, memory: 50MiB}
`

// polite has trials whose programs end without an error when they get SIGTERM.
const polite = `version: 1
name: lasting
objective: {metric: loss, mode: min}
trainable:
  command: [sh, -c, 'trap "exit 0" TERM; for i in $(seq 40); do echo "{{\"loss\": 1}}"; sleep 0.2; done']
space: {x: {uniform: [0, 1]}}
trials: 4
concurrency: 4
executor: {plugin: slurm@MORE@}
resources: {cpu: 1, memory: 50MiB}
`

// begins starts a host, which is interrupted at the end of the test, and returns the file that has what it says.
func (e *ending) begins(args ...string) (host *os.Process, said func() string) {
	e.t.Helper()
	out, err := os.CreateTemp(e.dir, "out")
	if err != nil {
		e.t.Fatal(err)
	}
	cmd := e.command(args...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	})
	return cmd.Process, func() string {
		text, err := os.ReadFile(out.Name())
		if err != nil {
			e.t.Fatal(err)
		}
		return string(text)
	}
}

// jobs are the jobs and the tasks of the experiment, and their names.
func (e *ending) jobs() (ids, names []string) {
	for line := range strings.Lines(e.c.Run(e.t, "squeue", "--noheader", "--array", "--states=RUNNING,PENDING",
		"--format=%i %j %Z")) {
		f := strings.Fields(line)
		if len(f) == 3 && f[2] == e.dir {
			ids, names = append(ids, f[0]), append(names, f[1])
		}
	}
	slices.Sort(ids)
	return ids, slices.Compact(names)
}

// B-133: a job that Slurm ends at its time limit, because its trial does not leave, is said to have ended so, also a
// task of an array.
func testTimeout(e *ending) { e.timeout(1) }

func testTimeoutOfTasks(e *ending) { e.timeout(4) }

func (e *ending) timeout(trials int) {
	e.writes(stubborn, "@N@", strconv.Itoa(trials), "@MORE@", ", time: 1m, notice: 5")
	_, said := e.begins("run", "lasting.yaml")
	e.until("a lease is lost", func() bool { return strings.Contains(said(), " is lost: ") })
	if want := " is lost: Slurm: TIMEOUT: the job reached its time limit"; !strings.Contains(said(), want) {
		e.t.Errorf("the user does not hear %q:\n%s", want, said())
	}
	journal := e.says("journal", "results/lasting")
	if want := "the time limit of the job is near"; !strings.Contains(journal, want) {
		e.t.Errorf("%q is not recorded:\n%s", want, journal)
	}
	e.until("the trials go on in other jobs", func() bool {
		n := 0
		for line := range strings.Lines(e.says("journal", "results/lasting")) {
			if strings.Contains(line, "attempt started") && strings.Contains(line, "attempt=2") {
				n++
			}
		}
		return n == trials
	})
}

// B-133: tasks that an administrator cancels while they wait are requested again, and the user hears why. The name of
// an array cancels all of its tasks, as docs/SLURM.md says.
func testCancelledJobs(e *ending) {
	e.writes(stubborn, "@N@", "4", "@MORE@", `, args: ["--begin=now+1hour"]`)
	_, said := e.begins("run", "lasting.yaml")
	var first []string
	e.until("the tasks wait", func() bool { first, _ = e.jobs(); return len(first) == 4 })
	const word = "was lost before a trial could use it: Slurm: CANCELLED: the job was cancelled while it waited"
	e.until("the user knows that they wait", func() bool { return strings.Contains(said(), "BeginTime") })
	e.c.Run(e.t, "scancel", first[1])
	e.until("another is requested", func() bool { now, _ := e.jobs(); return len(now) == 4 && now[1] != first[1] })
	if !strings.Contains(said(), word) {
		e.t.Errorf("the user does not hear %q:\n%s", word, said())
	}
	_, names := e.jobs()
	array := names[slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, "+") })]
	e.c.Run(e.t, "scancel", "--name="+array)
	e.until("others are requested", func() bool {
		now, _ := e.jobs()
		return len(now) == 4 && !slices.ContainsFunc(now, func(id string) bool { return slices.Contains(first, id) })
	})
	if n := strings.Count(e.says("journal", "results/lasting"), "Slurm: CANCELLED: "); n != 4 {
		e.t.Errorf("%d leases are lost with Slurm's word, want 4:\n%s", n, e.says("journal", "results/lasting"))
	}
}

// B-075: a program that handles SIGTERM and ends without an error, as programs should, has not completed its trial when
// its job is cancelled.
func testPoliteEnds(e *ending)      { e.polite("") }
func testPoliteStdioEnds(e *ending) { e.polite(", connection: stdio") }

func (e *ending) polite(more string) {
	const trials, results = 4, 40
	e.writes(polite, "@MORE@", more)
	_, said := e.begins("run", "lasting.yaml")
	e.until("results of all trials", func() bool {
		return strings.Count(e.says("journal", "results/lasting"), "result reported") > 4*trials
	})
	ids, _ := e.jobs()
	e.c.Run(e.t, "scancel", ids...)
	e.until("the end", func() bool { return strings.Contains(said(), "4 terminated") })
	for trial := range trials {
		out := e.says("results", "results/lasting", strconv.Itoa(trial), "--json")
		if n := strings.Count(out, `"iteration"`); n < results {
			e.t.Errorf("trial %d has completed after %d results of %d", trial, n, results)
		}
	}
}

// B-134: with connection: stdio, the tasks of an array are taken back by the host that resumes, and the experiment goes
// to its end.
func testStdioArray(e *ending) {
	const trials, results = 8, 12
	e.writes(lasting, "sleep: 1", "sleep: 0.5", "trials: 2", "trials: "+strconv.Itoa(trials), "concurrency: 2",
		"concurrency: 4", "@N@", strconv.Itoa(results), "@MORE@", ", connection: stdio")
	reported := func() int { return strings.Count(e.says("journal", "results/lasting"), "result reported") }
	host, _ := e.begins("run", "lasting.yaml")
	e.until("results of all tasks", func() bool { return reported() > 4*3 })
	before, names := e.jobs()
	if len(before) != 4 || len(names) != 1 || !strings.HasSuffix(names[0], "+") {
		e.t.Errorf("the jobs %v have the names %v: they are not the tasks of one array", before, names)
	}
	_ = host.Kill()
	had := reported()
	_, said := e.begins("resume", filepath.Join("results", "lasting"))
	e.until("results after the kill", func() bool { return reported() > had+4 })
	if now, _ := e.jobs(); !slices.Equal(now, before) {
		e.t.Errorf("the jobs are %v after the kill, and were %v", now, before)
	}
	e.until("the end", func() bool { return strings.Contains(said(), "8 terminated") })
	e.wholeTrials(trials, results)
	e.until("no job", func() bool { now, _ := e.jobs(); return len(now) == 0 })
	if lost := e.says("journal", "results/lasting"); strings.Contains(lost, "lease lost") {
		e.t.Errorf("a lease was lost:\n%s", lost)
	}
}
