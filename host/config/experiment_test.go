package config

import (
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

func load(t *testing.T, file string, options ...Option) *Experiment {
	t.Helper()
	e, err := Load("testdata/good/"+file, options...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func parse(t *testing.T, text string) *Experiment {
	t.Helper()
	e, err := Parse("x.yaml", []byte(text+base))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestDefaults(t *testing.T) {
	e := load(t, "digits.yaml")
	if e.Name != "digits" || e.Seed != nil || e.StopGrace != 10*time.Second || e.Reuse != "auto" || !e.StrictMetrics ||
		e.Repeat != 1 || e.Storage != "./results" || !e.Log.On || e.Trials != 100 || e.Resources["cpu"] != "1" ||
		e.Executor.Name != "local" || len(e.Reporters) != 2 || e.Sandbox.Memory != 256<<20 ||
		e.Sandbox.CallTimeout != 30*time.Second {
		t.Errorf("%+v", e)
	}
	if string(e.Scheduler.Options) != `{"max":27}` ||
		e.Scheduler.PosOf("max").String() != "testdata/good/digits.yaml:16:32" {
		t.Errorf("%s at %v", e.Scheduler.Options, e.Scheduler.PosOf("max"))
	}
	if !e.Trainable.InheritEnv || len(e.Trainable.Command) != 2 || e.Placement != nil {
		t.Errorf("%+v", e.Trainable)
	}
	p := e.Space.Params
	if len(p) != 5 || p[0].Low != 1e-4 || !p[0].Log || p[2].Kind != space.Int || !p[2].Log ||
		string(p[3].Choices[1]) != `"adam"` {
		t.Fatalf("%+v", p)
	}
	if w := p[4].When; w == nil || w.Op != space.In || w.Param != 3 || !reflect.DeepEqual(w.Set, []int{0}) {
		t.Errorf("%+v", w)
	}
}

func TestEveryKey(t *testing.T) {
	e := load(t, "full.yaml")
	if *e.Seed != math.MaxUint64 || len(e.Objectives) != 2 || e.Single ||
		e.Objectives[1] != (Objective{"latency", "min"}) {
		t.Errorf("%v %v", *e.Seed, e.Objectives)
	}
	if e.Trainable.Deadline != 10*time.Minute || e.Trainable.Env["OMP_NUM_THREADS"] != "1" ||
		e.Trainable.Command[7] != "10" || e.Trainable.InheritEnv {
		t.Errorf("%+v", e.Trainable)
	}
	if p := e.Placement; e.Resources != nil || p.Bundles[1]["gpu"] != "0.5" || p.Bundles[1]["memory"] != "4GiB" ||
		p.Strategy != "strict_spread" || !p.Workers {
		t.Errorf("%+v", p)
	}
	s := e.Stop
	if len(s.Metrics) != 3 || *s.Metrics[0].Reach != 0.99 || s.Metrics[0].Mode != "max" || *s.Metrics[1].Below != 0.1 ||
		s.Time != 90*time.Minute || s.Iteration != 100 || s.Plateau.Metric != "val/accuracy" || s.Plateau.Last != 4 {
		t.Errorf("%+v", s)
	}
	if e.Budget.Time != 48*time.Hour || e.Budget.TrialsFailed != 20 || e.Checkpoint.Disk != 20<<30 ||
		e.Failures.Retries != 3 || e.StopGrace != 5*time.Second {
		t.Errorf("%+v %+v", e.Budget, e.Checkpoint)
	}
	if e.Sandbox.Memory != 512_000_000 || !e.Grants["my-searcher"].Clock || e.Export[0] != "onnx" ||
		!e.Scheduler.IsPath() {
		t.Errorf("%+v %+v", e.Sandbox, e.Grants)
	}
	if e.Trials != -1 || !e.Space.Params[7].Grid || len(e.Space.Params[7].Choices) != 3 { // B-100, B-101
		t.Errorf("%d %+v", e.Trials, e.Space.Params[7])
	}
	if !e.Space.Opaque || !e.Constraints[1].Opaque || e.Constraints[0].Opaque || len(e.Space.Constraints) != 1 {
		t.Errorf("%+v", e.Constraints)
	}
	holds, err := e.Stop.When.Bool(expr.Values{Metrics: map[string]float64{"val/accuracy": 0.95},
		Vars: map[string]any{"iteration": 3}})
	if !holds || err != nil {
		t.Errorf("%v, %v", holds, err)
	}
}

// B-030, B-039: amounts are never read as floats.
func TestAmountsStayText(t *testing.T) {
	e := parse(t, "resources: {cpu: 0.330, licence: 1e3, memory: 1.5 GiB, slots: 00.1}")
	want := map[string]string{"cpu": "0.330", "licence": "1e3", "memory": "1.5 GiB", "slots": "00.1"}
	if !reflect.DeepEqual(e.Resources, want) {
		t.Errorf("%v", e.Resources)
	}
}

// B-083
func TestSearcherLeftOut(t *testing.T) {
	read := func(text string, options ...Option) *Experiment {
		t.Helper()
		e, err := Parse("x.yaml", []byte(text+base), options...)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	set := WithSet("searcher.repeats=true")
	for _, c := range []struct {
		e    *Experiment
		want string
	}{
		{read(""), `auto {} {"plugin":"auto"}`},
		{read("", set), `auto {"repeats":true} {"plugin":"auto","repeats":true}`},
		{read("", Recorded(2)), `random {} {"plugin":"random"}`},
		{read("", Recorded(0), set), `random {"repeats":true} {"plugin":"random","repeats":true}`},
		{read("searcher: tpe\n", Recorded(2)), `tpe {} {"plugin":"tpe"}`},
	} {
		if got := fmt.Sprintf("%s %s %s", c.e.Searcher.Name, c.e.Searcher.Options, c.e.Key("searcher")); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	old := read("", Recorded(2))
	for text, want := range map[string]string{"": "[]", "searcher: random\n": "[]",
		"searcher: auto\n": `[searcher.plugin "random"->"auto"]`} {
		got := []string{}
		for _, d := range Diff(old, read(text)) {
			got = append(got, fmt.Sprintf("%s %s->%s", d.Key, d.Old, d.New))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q: %v, want %s", text, got, want)
		}
	}
}

// A setting that is removed again leaves nothing that waits for the next host, also where its map had nothing else.
func TestWithdrawnSettings(t *testing.T) {
	old := parse(t, "space: {n: 1}\n")
	for _, sets := range [][]string{{"stop.iteration=18", "stop.iteration=null"},
		{"budget.time=1m", "budget.time=null"},
		{"stop={}"}, {"failures.retries=3", "failures.retries=null"}} {
		now, err := Parse("x.yaml", []byte("space: {n: 1}\n"+base), WithSet(sets...))
		if err != nil {
			t.Fatal(err)
		}
		if d := Diff(old, now); len(d) != 0 {
			t.Errorf("%q: %v", sets, d)
		}
	}
}

// A whole number has one spelling, however it is written: 1e1 is 10, and no change of 10.
func TestWholeNumbers(t *testing.T) {
	old := parse(t, "space: {n: 1}\nconcurrency: 2\nseed: 3\nfailures: {retries: 1}\n")
	for set, want := range map[string]string{"concurrency=1e1": "concurrency 2->10", "concurrency=2.0": "",
		"seed=3.0": "", "failures.retries=0x2": "failures.retries 1->2"} {
		now, err := Parse("x.yaml", []byte("space: {n: 1}\nconcurrency: 2\nseed: 3\nfailures: {retries: 1}\n"+base),
			WithSet(set))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, c := range Diff(old, now) {
			got += fmt.Sprintf("%s %s->%s", c.Key, c.Old, c.New)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", set, got, want)
		}
	}
}

// B-083
func TestDiff(t *testing.T) {
	old := parse(t, "space: {lr: {uniform: [0, 1]}, n: 1}\nsearcher: tpe\nbudget: {time: 60}\nconcurrency: 2\nseed: "+
		"3\n# comment")
	same, err := Parse("x.yaml", []byte("space: {lr: {uniform: [0, 1]}, n: 1}\nsearcher: {plugin: tpe}\nbudget: "+
		"{time: 1m}\ntrials: 1\nconcurrency: 2\n"+base))
	if err != nil {
		t.Fatal(err)
	}
	if d := Diff(old, same); len(d) != 0 {
		t.Errorf("%v", d)
	}
	now := parse(t, "space: {lr: {uniform: [0, 2]}, n: 1}\nsearcher: random\nbudget: {time: 2h}\nconcurrency: "+
		"4\nresources: {cpu: 2}\n")
	var got []string
	for _, c := range Diff(old, now) {
		got = append(got, fmt.Sprintf("%s %s->%s %s", c.Key, c.Old, c.New, c.Effect))
	}
	want := []string{
		`space.lr {"uniform":[0,1]}->{"uniform":[0,2]} ignored`, `searcher.plugin "tpe"->"random" ignored`,
		`concurrency 2->4 taken`, `resources.cpu "1"->"2" taken`, `budget.time "1m0s"->"2h0m0s" taken`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	swapped := parse(t, "space: {n: 1, lr: {uniform: [0, 1]}}\nsearcher: tpe\nbudget: {time: 60}\nconcurrency: 2\n")
	if d := Diff(old, swapped); len(d) != 1 || d[0].Key != "space" {
		t.Errorf("%v", d)
	}
	other, err := Parse("x.yaml", []byte(strings.Replace(base, "max", "min", 1)))
	different := func(c Change) bool { return c.Effect == Different }
	if err != nil || !slices.ContainsFunc(Diff(old, other), different) {
		t.Errorf("another objective is the same experiment, %v", err)
	}
}

// A key that is set to null counts as missing; in the space null is a value.
func TestUnset(t *testing.T) {
	sets := WithSet("resources.gpu=null", "stop=null", "budget.time=null", "space.x=null")
	text := "space: {x: 1}\nresources: {cpu: 2, gpu: 1}\nstop: {score: 3}\n"
	e, err := Parse("x.yaml", []byte(text+base), sets)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Resources) != 1 || e.Resources["cpu"] != "2" || len(e.Stop.Metrics) != 0 || len(e.Constants) != 1 {
		t.Errorf("%v, %v, %v", e.Resources, e.Stop, e.Constants)
	}
}

const asha = `{"type": "object", "additionalProperties": false, "properties": {
	"max": {"type": "integer", "minimum": 1}, "eta": {"type": "number", "exclusiveMinimum": 1},
	"mode": {"enum": ["stop", "promote"]}, "steps": {"type": "array", "items": {"type": "integer", "maximum": ` +
	`2147483647}},
	"log": {"oneOf": [{"type": "boolean"}, {"type": "string"}]}, "most": {"type": "integer", "maximum": ` +
	`9007199254740992},
	"deep": {"type": "object", "additionalProperties": false, "properties": {"inner": {"type": "string"}}}},
	"required": ["max"]}`

// composed is a schema of a plugin that is not written with the SDK's declarations.
const composed = `{"type": "object", "properties": {
	"factors": {"type": "array", "minItems": 1, "items": {"type": "number"}}, "sum": {"$ref": "#/$defs/five"},
	"small": {"propertyNames": {"maxLength": 1}}, "name": {"type": "string", "maxLength": 2}},
	"$defs": {"five": {"minimum": 5}}}`

func TestReferenceNamesEveryKey(t *testing.T) {
	for _, k := range experiment.keys {
		if !strings.Contains(Reference(), "`"+k.name+"`") || k.what == "" {
			t.Errorf("%s is not described", k.name)
		}
		if k.value == "" {
			continue
		}
		p := &problems{}
		if k.shape.check(p, defaultOf(k)); len(p.errs) > 0 {
			t.Errorf("default of %s: %v", k.name, p.errs)
		}
	}
}

func TestExpand(t *testing.T) {
	value := func(name string) (string, bool) { return "<" + name + ">", name == "lr" || name == "model/lr" }
	for template, want := range map[string]string{
		"--lr={lr}": "--lr=<lr>", "{{lr}}": "{lr}", "{{{lr}}}": "{<lr>}", "{model/lr}é": "<model/lr>é", "": "",
		"{x}": "column 1: no parameter \"x\"; write {{ and }} for braces", "a{": "column 2: found a { without }, " +
			"expected {{ for a brace",
	} {
		got, err := Expand(template, value)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", template, got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	deep := strings.Repeat("- ", 500_000)
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"1 MiB": strings.Repeat("# c\n", 1<<18+1), "deep list": deep, "deep flow": strings.Repeat("[",
			500_000), "deep map": strings.Repeat("{a: ", 200_000),
		"deep keys": strings.Repeat("? ", 500_000), "tags": "a: " +
			strings.Repeat("!a ", 300_000), "keys": many(80_000, "key%d: 1\n"),
		"parameters": "space:\n" + many(2000, "  p%d: {uniform: [0, 1]}\n") + base, "not UTF-8": "name: \xff",
	} {
		_, err := Parse("x.yaml", []byte(text))
		if err == nil || len(err.Error()) > 10_000 {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	points := base + "points:\n" + many(50_000, "  - {x: 0.%d}\n")
	want := `the file has more than 10000 keys, most of them below "points", where each name in each entry counts: ` +
		`write fewer entries`
	if _, err := Parse("x.yaml", []byte(points)); err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
		t.Errorf("points: %v", err)
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Load("no such file"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// JSON escapes and numbers are read as JSON.
func TestJSON(t *testing.T) {
	e, err := Parse("x.json", []byte("{\n\t\"version\": 1, \"objective\": {\"metric\": \"a\\/\\u00e9\\ud83d\\ude00\", "+
		"\"mode\": \"max\"},\n\t\"trainable\":{\"command\":[\"x\"]},\"trials\":1E1\n}"))
	if err != nil {
		t.Fatal(err)
	}
	if e.Objectives[0].Metric != "a/é😀" || e.Trials != 10 {
		t.Errorf("%q, %d", e.Objectives[0].Metric, e.Trials)
	}
}

func TestWithoutTrainable(t *testing.T) {
	text := []byte("version: 1\nobjective: {metric: a, mode: max}")
	if e, err := Parse("-", text, WithoutTrainable()); err != nil || e.Trainable != nil || e.Name != "-" &&
		e.Name != "experiment" {
		t.Errorf("%v", err)
	}
}

func TestWhere(t *testing.T) {
	e := parse(t, "space: {lr: {uniform: [0, 1]}}")
	p, err := e.Where("state == 'ERROR' || accuracy > 0.5 && lr < 0.1")
	if err != nil {
		t.Fatal(err)
	}
	holds, err := p.Bool(expr.Values{Params: map[string]any{"lr": 0.01}, Metrics: map[string]float64{"accuracy": 0.7},
		Vars: map[string]any{"state": "RUNNING"}})
	if !holds || err != nil {
		t.Errorf("%v, %v", holds, err)
	}
}

// TestReference checks that docs/REFERENCE.md lists every key of the file.
func TestReference(t *testing.T) {
	text, err := os.ReadFile("../../docs/REFERENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	has := func(key string) bool { return regexp.MustCompile("`[^`]*\\b" + key + "\\b[^`]*`").Match(text) }
	for _, k := range experiment.keys {
		if !strings.Contains(string(text), "\n| `"+k.name+"` |") {
			t.Errorf("no row for the key %s", k.name)
		}
		inner, ok := k.shape.(*object)
		for i := 0; ok && i < len(inner.keys); i++ {
			if !has(inner.keys[i].name) {
				t.Errorf("nothing on %s.%s", k.name, inner.keys[i].name)
			}
		}
	}
	for _, form := range forms {
		if !has(form) {
			t.Errorf("nothing on the form %s", form)
		}
	}
}
