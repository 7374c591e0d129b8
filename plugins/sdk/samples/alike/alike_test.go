package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
)

// features are what the trainable does in the language of each SDK, and the resulting contents of
// its trials' files: it is stopped at its third result, and has saved the second.
var features = []feature{
	{"state", "TERMINATED"},
	{"numbers", "1: loss 1, whole 2; 2: loss 0.5, whole 4; 3: loss 0.3333, whole 6; "},
	{"values", `1: epoch "1" true [1 2.5]; 2: epoch "2" true [1 2.5]; 3: epoch "3" true [1 2.5]; `},
	{"stdout", "epoch 1\nepoch 2\nepoch 3\ncleaned up\n"},
	{"stderr", "warning 1\nwarning 2\nwarning 3\n"},
	{"checkpoint", "state 2"},
	{"export", "model 3"},
	{"reuse", "one process"},
}

type feature struct{ name, want string }

// A language is an SDK, or a way to use it.
type language struct {
	name      string
	trainable func(t *testing.T, dir string) string // the key of the experiment file
	page      string
	// cannot has the features that the SDK lacks, with the reason, which must be a sentence of its
	// README.
	cannot map[string]string
}

// aProgram is the reason why a program has one process per trial.
const aProgram = "starts `command` once for each trial"

var languages = []language{
	{name: "Go", trainable: plugin(buildGo)},
	{name: "Python", trainable: plugin(python("")), page: "python/README.md", cannot: map[string]string{
		"reuse": "each trial is a fork of it"}},
	{name: "Python in one process", trainable: plugin(python("one")), page: "python/README.md"},
	{name: "Python script", trainable: command(python("script")), page: "../../docs/REFERENCE.md",
		cannot: map[string]string{"reuse": aProgram}},
	{name: "JavaScript", trainable: plugin(node("")), page: "js/README.md", cannot: map[string]string{
		"export": "It does not export models"}},
	{name: "JavaScript program", trainable: command(node("script")), page: "../../docs/REFERENCE.md",
		cannot: map[string]string{"reuse": aProgram}},
	{name: "Rust", trainable: plugin(buildRust), page: "rust/README.md", cannot: map[string]string{
		"export": "It does not export models"}},
	{name: "shell", trainable: command(shell), page: "../../docs/REFERENCE.md",
		cannot: map[string]string{"reuse": aProgram}},
	{name: "AssemblyScript", trainable: buildAssemblyScript, page: "assemblyscript/README.md",
		cannot: map[string]string{
			"stdout": "What it logs goes to the experiment's log",
			"stderr": "What it logs goes to the experiment's log",
			"export": "It does not export models"}},
	{name: "C", page: "c/tunehost.h", cannot: map[string]string{"all": "a trainable in C is a program"}},
}

// TestAlike runs the same trainable in each language, and compares the files of its trials with one
// table.
func TestAlike(t *testing.T) {
	host, err := toolchain.Tunehost()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TUNEHOST", host)
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			l.says(t)
			if l.trainable == nil {
				return
			}
			dir := t.TempDir()
			write(t, filepath.Join(dir, "alike.yaml"), fmt.Sprintf(experiment, l.trainable(t, dir)))
			found := trials(t, dir, run(t, dir, host, "run", "alike.yaml"))
			for i, trial := range found {
				l.compare(t, i, trial)
			}
			if got := pids(found); got != "one process" && l.cannot["reuse"] == "" {
				t.Errorf("reuse: %s", got)
			}
		})
	}
}

const experiment = `version: 1
objective: {metric: loss, mode: min}
trainable: %s
space: {x: {grid: [1, 2]}}
concurrency: 1
stop: {iteration: 3}
stop_grace: 2m
checkpoint: {every: 2}
export: [text]
log: {stdout: out.txt, stderr: err.txt}
`

// says checks that the SDK's README has the reason for each missing feature.
func (l *language) says(t *testing.T) {
	t.Helper()
	for name, why := range l.cannot {
		page := strings.Join(strings.Fields(strings.ReplaceAll(read(t, filepath.Join("../..", l.page)), "\n *", "\n")),
			" ")
		if !strings.Contains(page, why) {
			t.Errorf("%s does not say why it has no %s: %q", l.page, name, why)
		}
	}
}

func (l *language) compare(t *testing.T, i int, trial map[string]string) {
	t.Helper()
	for _, f := range features[:len(features)-1] {
		want := f.want
		if l.cannot[f.name] != "" {
			want = ""
		}
		if got := trial[f.name]; got != want {
			t.Errorf("trial %d: %s is %q, want %q", i, f.name, got, want)
		}
	}
}

func pids(trials []map[string]string) string {
	if len(trials) == 2 && trials[0]["pid"] == trials[1]["pid"] {
		return "one process"
	}
	return fmt.Sprintf("%d trials, processes %v", len(trials), trials)
}

// trials reads the trials' directories.
func trials(t *testing.T, dir, said string) (list []map[string]string) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(dir, "results", "alike", "trials", "0*"))
	if err != nil || len(dirs) != 2 {
		t.Fatalf("%v, %v; the host said:\n%s", dirs, err, said)
	}
	states := strings.Split(strings.TrimSpace(run(t, dir, os.Getenv("TUNEHOST"), "trials", "results/alike", "--json")),
		"\n")
	for i, d := range dirs {
		var view struct{ State string }
		parse(t, states[i], &view)
		list = append(list, map[string]string{
			"state": view.State, "stdout": only(t, d, "out.txt"), "stderr": only(t, d, "err.txt"),
			"checkpoint": only(t, d, "checkpoints/*/files/*"), "export": only(t, d, "export/text/files/*"),
		})
		results(t, filepath.Join(d, "result.jsonl"), list[i])
		if t.Failed() {
			t.Log(said)
		}
	}
	return list
}

// results returns the lines of a result.jsonl.
func results(t *testing.T, path string, trial map[string]string) {
	t.Helper()
	for line := range strings.Lines(read(t, path)) {
		var r struct {
			Iteration   int
			PID         int
			Loss, Whole float64
			Note        any
			OK          any
			Sizes       any
		}
		parse(t, line, &r)
		trial["pid"] = fmt.Sprint(r.PID)
		trial["numbers"] += fmt.Sprintf("%d: loss %.4g, whole %g; ", r.Iteration, r.Loss, r.Whole)
		trial["values"] += fmt.Sprintf("%d: %v %v %v; ", r.Iteration, r.Note, r.OK, r.Sizes)
	}
}

// only returns the contents of the only file of a pattern, or nothing.
func only(t *testing.T, dir, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) > 1 {
		t.Errorf("%v, %v", files, err)
	}
	if len(files) == 0 {
		return ""
	}
	return read(t, files[0])
}

// plugin returns a program that is a plugin of an SDK.
func plugin(words func(t *testing.T, dir string) []string) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string {
		path := filepath.Join(dir, "alike")
		write(t, path, "#!/bin/sh\nexec "+strings.Join(words(t, dir), " ")+"\n")
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return "{plugin: ./alike}"
	}
}

// command returns a program that is not a plugin.
func command(words func(t *testing.T, dir string) []string) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string {
		list, err := json.Marshal(words(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("{command: %s}", list)
	}
}

func shell(t *testing.T, _ string) []string { return []string{"sh", abs(t, "testdata/alike.sh")} }

func python(how string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		program := toolchain.NeedPython(t, "grpc", "google.protobuf", "cryptography")
		return without("", "env", "PYTHONPATH="+abs(t, "../../python"), "PYTHONDONTWRITEBYTECODE=1", program,
			abs(t, "../../python/testdata/alike.py"), how)
	}
}

func node(how string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		toolchain.Built(t, toolchain.JavaScript, "plugins/sdk/js/node_modules", "js")
		return without("", toolchain.Need(t, toolchain.JavaScript), abs(t, "../../js/testdata/alike.js"), how)
	}
}

func without(empty string, words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == empty })
}

func buildGo(t *testing.T, _ string) []string { return []string{build(t, ".", "alike")} }

func buildRust(t *testing.T, _ string) []string {
	cargo, target := toolchain.Need(t, toolchain.Rust), abs(t, "../../../../.tools/cargo")
	t.Setenv("CARGO_TARGET_DIR", target)
	run(t, "../../rust", cargo, "build", "--quiet", "--locked", "--example", "alike", "--jobs", "2")
	return []string{filepath.Join(target, "debug", "examples", "alike")}
}

func buildAssemblyScript(t *testing.T, dir string) string {
	toolchain.Need(t, toolchain.AssemblyScript)
	compiler := toolchain.Built(t, toolchain.AssemblyScript, "plugins/sdk/assemblyscript/node_modules/.bin/asc",
		"assemblyscript")
	run(t, "../../assemblyscript", compiler, "testdata/alike.ts", "--config", "asconfig.json", "--outFile",
		filepath.Join(dir, "alike.wasm"))
	return "{plugin: ./alike.wasm}"
}

func build(t *testing.T, pkg, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	run(t, ".", "go", "build", "-o", path, pkg)
	return path
}

// run runs a program to its end and returns its stdout, or its stderr if stdout is empty.
func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("%s %v: %v\n%s%s", program, args, err, &stdout, &stderr)
	}
	return cmp.Or(stdout.String(), stderr.String())
}

func abs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func parse(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
