package prepare

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
)

// resumed is an experiment that hosts resume in a directory, none of which runs a trial.
type resumed struct {
	t   *testing.T
	dir storage.Dir
}

const plain = "version: 1\nobjective: {metric: loss, mode: min}\nspace: {x: {uniform: [0, 1]}, c: {choice: [a, b]}}\n" +
	"trials: 3\n"

func begun(t *testing.T, text string, sets ...string) *resumed {
	t.Helper()
	dir, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := parsed(t, text, sets...)
	r, err := runfile.New(e, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r.Name = "test"
	if err := os.WriteFile(dir.Experiment(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	return &resumed{t, dir}
}

func parsed(t *testing.T, text string, sets ...string) *config.Experiment {
	t.Helper()
	e, err := config.Parse("test.yaml", []byte(text), config.WithSet(sets...), config.WithFlag("name", "test"),
		config.WithoutTrainable())
	if err != nil {
		t.Fatalf("%v in %s with %q", err, text, sets)
	}
	return e
}

// run resumes as `tunehost run FILE --set SETS` does.
func (x *resumed) run(extend bool, text string, sets ...string) *Plan {
	x.t.Helper()
	p := &Plan{Dir: x.dir}
	if err := p.resume(&options.Options{Extend: extend}, parsed(x.t, text, sets...)); err != nil {
		x.t.Fatalf("%v\nfor %s with %q", err, text, sets)
	}
	if err := p.File.Write(x.dir); err != nil {
		x.t.Fatal(err)
	}
	return p
}

// set is `tunehost set`.
func (x *resumed) set(sets ...string) {
	x.t.Helper()
	r, _, err := runfile.Read(x.dir)
	if err != nil {
		x.t.Fatal(err)
	}
	if err := r.Set(sets, time.Now()).Write(x.dir); err != nil {
		x.t.Fatal(err)
	}
}

// B-083: an edit that takes back one parameter of the space is named, and what is extended later is taken.
func TestParameterGoesBack(t *testing.T) {
	x := begun(t, plain)
	x.run(true, strings.Replace(plain, "[0, 1]", "[-1, 2]", 1))
	p := x.run(true, plain)
	if all := strings.Join(p.Warnings, "\n"); !strings.Contains(all, "space.x was extended on ") ||
		!strings.Contains(all, ` to {"uniform":[-1,2]}, and goes back to {"uniform":[0,1]}, as the file says`) {
		t.Error(all)
	}
	now := x.run(true, plain, "searcher=tpe", "trials=9").Experiment
	if got := string(now.Key("searcher")) + string(now.Key("trials")); got != `{"plugin":"tpe"}9` {
		t.Error(got)
	}
}

// B-083: what `tunehost set` and an extension give lasts; what --set of `run` gives holds until the next run, whatever
// was set or extended before.
func TestHowLongSettingsHold(t *testing.T) {
	for name, before := range map[string]func(*resumed){
		"nothing":   func(*resumed) {},
		"set":       func(x *resumed) { x.set("trials=5") },
		"extension": func(x *resumed) { x.run(true, plain, "searcher=tpe", "trials=5") },
	} {
		x := begun(t, plain)
		before(x)
		trials := func(want int64, text string, sets ...string) {
			t.Helper()
			if got := x.run(false, text, sets...).Experiment.Trials; got != want {
				t.Errorf("%s: %d trials, want %d", name, got, want)
			}
		}
		if name != "nothing" {
			trials(5, plain)
			trials(5, plain)
		}
		trials(7, plain, "trials=7")
		trials(7, plain, "trials=7")
		trials(3, plain)
		trials(8, strings.Replace(plain, "3", "8", 1))
		trials(3, plain)
		x.set("trials=9")
		trials(9, plain)
		trials(4, strings.Replace(plain, "3", "4", 1))
	}
}

// B-083: whatever is edited, set and extended in whatever order, the experiment can be resumed, and the same
// command once more changes nothing.
func TestAnyExtensions(t *testing.T) {
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 0))
		pick := func(list ...string) string { return list[r.IntN(len(list))] }
		x := begun(t, plain)
		var log strings.Builder
		for range 6 {
			text := fmt.Sprintf("version: 1\nobjective: {metric: loss, mode: min}\n"+
				"space: {x: {uniform: %s}, c: {choice: %s}}\ntrials: %s\n%s%s", pick("[0, 1]", "[-1, 2]", "[-5, 5]"),
				pick("[a, b]", "[a, b, d]"), pick("3", "4"),
				pick("", "searcher: tpe\n", "searcher: {plugin: tpe, startup: 5}\n"),
				pick("", "scheduler: {plugin: asha, max: 4}\n", "scheduler: {plugin: asha, max: 8}\n"))
			var sets []string
			for r.IntN(2) == 0 {
				sets = append(sets, pick("trials=5", "trials=2", "space.x={uniform: [-1, 2]}",
					"space.x={uniform: [0, 1]}",
					"searcher={plugin: tpe, startup: 5}", "searcher={plugin: tpe}", "scheduler={plugin: asha, max: 8}",
					"space.c={choice: [a, b, d]}"))
			}
			if strings.Contains(text, "tpe") && r.IntN(2) == 0 {
				sets = append(sets, "searcher.startup=3")
			}
			extend := r.IntN(3) > 0
			fmt.Fprintf(&log, "%s%q extend %v\n\n", text, sets, extend)
			first := x.run(extend, text, sets...)
			if p := x.run(extend, text, sets...); p.Changed {
				t.Fatalf("%sseed %d: changed again from %q to %q: %q", &log, seed, first.File.Overrides,
					p.File.Overrides, p.Warnings)
			}
		}
	}
}

const nested = "version: 1\nobjective: {metric: loss, mode: min}\n" +
	"space: {g: {a: {uniform: [0, 1]}, h: {b: {uniform: [0, 1]}, c: {choice: [1]}}}, lr: {uniform: [0, 1]}}\n"

// B-083: --extend changes only what --set gives, also within a group and within a parameter; what was extended before
// stays, and the warning says what to write.
func TestExtendsMembersOfGroups(t *testing.T) {
	x := begun(t, nested)
	for _, set := range []string{"space.g.a={uniform: [0, 10]}", "space.g.h.b={uniform: [0, 20]}",
		"space.lr.uniform=[0, 30]", "space.g.h.c.choice=[1, 2]", "searcher=sobol"} {
		p := x.run(true, nested, set)
		if all := strings.Join(p.Warnings, "\n"); strings.Contains(all, "goes back") {
			t.Errorf("%s: %s", set, all)
		}
	}
	const all = `{"g":{"a":{"uniform":[0,10]},` +
		`"h":{"b":{"uniform":[0,20]},"c":{"choice":[1,2]}}},"lr":{"uniform":[0,30]}}`
	p := x.run(false, nested)
	if got := string(p.Experiment.Key("space")) + string(p.Experiment.Key("searcher")); got != all+
		`{"plugin":"sobol"}` {
		t.Error(got)
	}
	for _, want := range []string{"test.yaml:3:", ": space.g.h.b was extended on ", ` to {"uniform":[0,20]}, and the ` +
		`experiment keeps that value; here it is still {"uniform":[0,1]}: write b: {"uniform":[0,20]} into the file`} {
		if warned := strings.Join(p.Warnings, "\n"); !strings.Contains(warned, want) {
			t.Errorf("%q is missing in\n%s", want, warned)
		}
	}
	back := x.run(true, nested, "space.g.a={uniform: [0, 1]}")
	const g = `{"a":{"uniform":[0,1]},"h":{"b":{"uniform":[0,20]}`
	if got := string(back.Experiment.Key("space.g")); !strings.HasPrefix(got, g) {
		t.Error(got)
	}
}
