package host

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/tpe"
)

// extend makes a finished experiment, and then continues with other settings.
func extend(t *testing.T, file string, sets []string, more ...any) (Options, *testplace.Screen) {
	t.Helper()
	o, seen := quick(t, file, append(more, wobbly(0))...)
	o.Verbose = 1
	finish(t, o)
	o.Sets, o.Extend = sets, true
	return o, seen
}

const extended = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: wobbly}
space: {x: {uniform: [0, 1]}, c: {choice: [a, b]}}
searcher: random
trials: 6
`

// A finished experiment continues with more trials, another searcher, which knows all
// of them, and a wider space. What was asked and answered before is replayed with what
// held then.
func TestExtend(t *testing.T) {
	o, _ := extend(t, extended, []string{"trials=30", "searcher={plugin: tpe, startup: 3}", "space.x={uniform: [0, 9]}",
		"space.c={choice: [a, b, d]}"}, tpe.Plugin)
	before := params(audit(t, filepath.Join(o.Storage, "test"), nil))
	m := audit(t, finish(t, o).Dir, nil)
	list := params(m)
	if len(list) != 30 || strings.Join(list[:6], "") != strings.Join(before, "") {
		t.Fatalf("trials %v", list)
	}
	wider, newer := 0, 0
	for _, text := range list {
		var p struct {
			X float64
			C string
		}
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		if p.X > 1 {
			wider++
		}
		if p.C == "d" {
			newer++
		}
	}
	if wider < 10 || newer == 0 || m.Spec().Extended != 1 {
		t.Errorf("%d trials in the wider space, %d with the new choice: %v", wider, newer, list)
	}
	// Without the flag it continues as it is now, and once more with it.
	o.Extend = false
	finish(t, o)
	o.Sets, o.Extend = append(o.Sets, "searcher=random", "trials=32"), true
	if m := audit(t, finish(t, o).Dir, nil); m.Trials() != 32 || m.Spec().Extended != 2 {
		t.Errorf("%d trials, extended %d times", m.Trials(), m.Spec().Extended)
	}
}

// A searcher that was exhausted is replaced by one that is not.
func TestExtendAnExhaustedSearch(t *testing.T) {
	e := &ear{}
	file := strings.Replace(strings.Replace(extended, ", c: {choice: [a, b]}", "", 1), "searcher: random",
		"searcher: {plugin: grid, resolution: 4}", 1)
	o, _ := extend(t, file, []string{"searcher=ear"}, e.plugin())
	if n := audit(t, filepath.Join(o.Storage, "test"), nil).Trials(); n != 4 {
		t.Fatalf("%d trials before", n)
	}
	m := audit(t, finish(t, o).Dir, nil)
	if m.Trials() != 6 {
		t.Errorf("%d trials", m.Trials())
	}
	finish(t, o)
	if told := e.heard(sdk.TrialCompleted); len(told) != 6 {
		t.Errorf("the new searcher heard of %d trials", len(told))
	}
}

// B-083: without the flag such changes are ignored, and the user hears how they are
// taken.
func TestExtensionsAreWanted(t *testing.T) {
	o, seen := extend(t, extended, []string{"searcher=grid", "space.x={uniform: [0, 2]}"})
	o.Extend = false
	m := audit(t, finish(t, o).Dir, nil)
	if m.Trials() != 6 || m.Spec().Extended != 0 {
		t.Errorf("%d trials, extended %d times", m.Trials(), m.Spec().Extended)
	}
	contains(t, seen.String(), "the change of searcher", "the change of space.x is ignored", "; --extend takes it")
	advice := seen.String()[strings.LastIndex(seen.String(), "\nnext "):]
	if strings.Contains(advice, "--set searcher") ||
		strings.Contains(advice, "--set space") || !strings.Contains(advice, "--set trials=N") {
		t.Errorf("what is ignored is advised again: %s", advice)
	}
}

// B-083: a file that an extension with --set has left behind is not called a change of the
// user's: the warning says what was extended, when, and what to write; following it ends it.
func TestFileBehindAnExtension(t *testing.T) {
	o, seen := extend(t, extended, []string{"searcher={plugin: tpe, startup: 3}", "space.x={uniform: [-1, 2]}",
		"trials=20"}, tpe.Plugin)
	finish(t, o)
	seen.Reset()
	o.Sets, o.Extend = nil, false
	finish(t, o)
	text := seen.String()
	contains(t, text, "test.yaml:4:9: space.x was extended on ",
		` to {"uniform":[-1,2]}, and the experiment keeps that value; here it is still {"uniform":[0,1]}: write x: `+
			`{"uniform":[-1,2]} into the file`,
		`test.yaml:5:1: searcher was extended on `, `write searcher: {"plugin":"tpe","startup":3} into the file`)
	if strings.Contains(text, "is ignored") || strings.Contains(text, "--extend") ||
		strings.Count(text, "searcher was extended") != 1 {
		t.Error(text)
	}
	seen.Reset()
	o.Sets = []string{"searcher=random"}
	finish(t, o)
	contains(t, seen.String(), "--set searcher=random: the change of searcher.plugin is ignored: an experiment keeps "+
		"what it was extended to on ")
	seen.Reset()
	o.Sets = []string{`searcher={"plugin":"tpe","startup":3}`, `space.x={"uniform":[-1,2]}`}
	finish(t, o)
	if strings.Contains(seen.String(), "extended") || strings.Contains(seen.String(), "ignored") {
		t.Error(seen)
	}
}

// B-083: what neither --set nor an edit of the file changes stays as it was extended, also when something else
// is extended later; an edit that takes an extension back is named.
func TestLaterExtensionKeepsEarlierOnes(t *testing.T) {
	o, seen := extend(t, extended, []string{"searcher={plugin: tpe, startup: 3}", "space.x={uniform: [-1, 2]}",
		"trials=20"}, tpe.Plugin, asha.Plugin)
	finish(t, o)
	o.Sets = []string{"scheduler={plugin: asha, max: 4}", "trials=22"}
	seen.Reset()
	kept := recorded(t, finish(t, o).Dir)
	contains(t, seen.String(), "searcher was extended on ", "space.x was extended on ", "write x: ")
	contains(t, string(kept.Key("searcher"))+string(kept.Key("space"))+string(kept.Key("scheduler")), `"startup":3`,
		`[-1,2]`, `"max":4`)
	o.Sets = []string{"scheduler={plugin: asha, max: 5}", "trials=23"}
	kept = recorded(t, finish(t, o).Dir)
	contains(t, string(kept.Key("searcher"))+string(kept.Key("scheduler")), `"plugin":"tpe"`, `"startup":3`, `"max":5`)
	edit := func(old, now string) {
		t.Helper()
		text, err := os.ReadFile(o.File)
		if err != nil || !strings.Contains(string(text), old) {
			t.Fatalf("%v in %s", err, text)
		}
		if err := os.WriteFile(o.File, []byte(strings.Replace(string(text), old, now, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.Sets = []string{"trials=24"}
	edit("searcher: random", "searcher: {plugin: tpe, startup: 7}")
	kept = recorded(t, finish(t, o).Dir)
	contains(t, string(kept.Key("searcher")), `"startup":7`)
	seen.Reset()
	edit("searcher: {plugin: tpe, startup: 7}", "searcher: random")
	o.Sets = []string{"trials=25"}
	kept = recorded(t, finish(t, o).Dir)
	contains(t, string(kept.Key("searcher")), "random")
	contains(t, seen.String(), `searcher was extended on `, ` to {"plugin":"tpe","startup":7}, and goes back to `+
		`{"plugin":"random"}, as the file says`)
}

// B-083: what another file extended stays when the experiment's own file, which was not edited, extends something else.
func TestExtensionByAnotherFile(t *testing.T) {
	named := strings.Replace(extended, "version: 1", "version: 1\nname: test", 1)
	o, seen := extend(t, named, nil)
	own := o.File
	o.File = filepath.Join(t.TempDir(), "other.yaml")
	wider := strings.Replace(strings.Replace(named, "x: {uniform: [0, 1]}", "x: {uniform: [0, 9]}", 1), "trials: 6",
		"trials: 20", 1)
	if err := os.WriteFile(o.File, []byte(wider), 0o600); err != nil {
		t.Fatal(err)
	}
	finish(t, o)
	o.File, o.Sets = own, []string{"space.c={choice: [a, b, d]}", "trials=22"}
	seen.Reset()
	kept := recorded(t, finish(t, o).Dir)
	contains(t, string(kept.Key("space")), "[0,9]", `["a","b","d"]`)
	contains(t, seen.String(), "space.x was extended on ", "and the experiment keeps that value")
}

// B-083: what an experiment began with by --set stays, too, if an extension does not name it.
func TestExtensionKeepsWhatWasSet(t *testing.T) {
	o, seen := quick(t, extended, wobbly(0), tpe.Plugin, asha.Plugin)
	o.Verbose, o.Sets = 1, []string{"searcher={plugin: tpe, startup: 3}"}
	finish(t, o)
	o.Sets, o.Extend = []string{"scheduler={plugin: asha, max: 4}", "trials=8"}, true
	kept := recorded(t, finish(t, o).Dir)
	contains(t, string(kept.Key("searcher"))+string(kept.Key("scheduler")), `"startup":3`, `"max":4`)
	contains(t, seen.String(), `the experiment began with searcher={"plugin":"tpe","startup":3} by --set, and keeps `+
		`that value; here it is {"plugin":"random"}: --set searcher={"plugin":"random"} --extend would change it`)
}

// An option that is set extends what the searcher was extended to, not what the file still has.
func TestExtendsOneOption(t *testing.T) {
	o, _ := extend(t, strings.Replace(extended, "random", "{plugin: tpe, startup: 5}", 1),
		[]string{"searcher.startup=3", "trials=8"}, tpe.Plugin)
	finish(t, o)
	o.Sets = []string{"searcher.candidates=9", "trials=9"}
	kept := recorded(t, finish(t, o).Dir)
	contains(t, string(kept.Key("searcher")), `"plugin":"tpe"`, `"startup":3`, `"candidates":9`)
}

// recorded is an experiment as its next host begins.
func recorded(t *testing.T, path string) *config.Experiment {
	t.Helper()
	dir, err := storage.At(path)
	if err != nil {
		t.Fatal(err)
	}
	_, e, err := runfile.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// B-083: a new parameter is no extension, and what is advised instead works: a new experiment that
// knows all trials, with the value that they had.
func TestNewParameterIsAdvisedRightly(t *testing.T) {
	o, seen := extend(t, extended, []string{"space.y={uniform: [0, 1]}"})
	o.Extend = false
	finish(t, o)
	contains(t, seen.String(), `the change of space.y is ignored`, `--extend does not take it: `,
		"learn_from: [the directory of this one] and, in y, was: ")
	if strings.Contains(seen.String(), "--extend takes it") {
		t.Error(seen)
	}
	o.Name = "another"
	o.Sets = []string{"space.y={uniform: [0, 1], was: 0.25}", "learn_from=[" + filepath.Join(o.Storage, "test") + "]"}
	m := audit(t, finish(t, o).Dir, nil)
	if m.Learned() != 6 {
		t.Errorf("%d trials are known\n%s", m.Learned(), seen)
	}
}

// A host that dies between taking an extension and recording it: the next one does.
func TestExtensionByADeadHost(t *testing.T) {
	o, _ := extend(t, extended, []string{"searcher=tpe", "trials=9"}, tpe.Plugin)
	dir, err := storage.At(filepath.Join(o.Storage, "test"))
	if err != nil {
		t.Fatal(err)
	}
	before := filepath.Join(t.TempDir(), "journal")
	if err := os.CopyFS(before, os.DirFS(dir.Journal())); err != nil {
		t.Fatal(err)
	}
	finish(t, o)
	forgetResults(t, dir.Path(), 6)
	if err := os.RemoveAll(dir.Journal()); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir.Journal(), os.DirFS(before)); err != nil {
		t.Fatal(err)
	}
	o.Extend = false
	if m := audit(t, finish(t, o).Dir, nil); m.Trials() != 9 || m.Spec().Extended != 1 {
		t.Errorf("%d trials, extended %d times", m.Trials(), m.Spec().Extended)
	}
}

// The scheduler does not change under trials that are left to it; the searcher may.
func TestExtendUnfinished(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	endless := sdk.TrainablePlugin{
		Info: sdk.Info{Name: "endless", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
				for first := ctx.Err() == nil; ; {
					if err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: 1}}, Done: !first},
						nil); err != nil || !first {
						return err
					}
					cancel()
				}
			}), sdk.TrainableTraits{}, nil
		},
	}
	o, _ := quick(t, strings.Replace(extended, "wobbly", "endless", 1)+"concurrency: 1\n", endless, asha.Plugin,
		tpe.Plugin)
	if ended, err := run(ctx, o); err != nil || ended.Outcome != core.InterruptedByUser {
		t.Fatalf("%+v, %v", ended, err)
	}
	o.Sets, o.Extend = []string{"scheduler={plugin: asha, max: 9}"}, true
	contains(t, refused(t, o), "the scheduler can change only when all trials have ended, and ")
	o.Sets = []string{"searcher=tpe"}
	if m := audit(t, finish(t, o).Dir, nil); m.Count(core.Terminated) != 6 || m.Spec().Extended != 1 {
		t.Errorf("%d trials ended, extended %d times", m.Count(core.Terminated), m.Spec().Extended)
	}
}

// What an extension cannot do is said, and leaves the experiment as it was.
func TestExtensionMistakes(t *testing.T) {
	o, seen := extend(t, extended, nil, asha.Plugin)
	for _, c := range []struct{ set, want string }{
		{"space.x={uniform: [5, 6]}", `could not have run in the new space: its "x" is outside of the space; write a ` +
			`space into the file, or --set, in which every trial could have run, such as the present one ` +
			`({"x":{"uniform":`},
		{"space.x={int: [0, 6]}", `parameter "x" cannot be of another kind`},
		{"space.x=3", "parameters cannot be added, taken away or made constant"},
		{"space.y={uniform: [0, 1]}", `"y" is new; begin a new experiment (--name) with learn_from: [the directory ` +
			`of this one] and, in y, was: `},
		{"space.c={choice: [b, a]}", `the choices of "c" can only be added to`},
		{"space.c={grid: [a, b]}", `the grid of "c" cannot change`},
		{"objective.metric=other", "this is another experiment"},
	} {
		o.Sets = []string{c.set, "trials=7"}
		contains(t, refused(t, o), c.want)
	}
	if m := audit(t, filepath.Join(o.Storage, "test"), nil); m.Trials() != 6 {
		t.Errorf("%d trials", m.Trials())
	}
	o.Sets = []string{"scheduler={plugin: asha, max: 4}", "trials=7"}
	if m := audit(t, finish(t, o).Dir, nil); m.Trials() != 7 || m.Count(core.Terminated) != 7 {
		t.Errorf("%d trials", m.Trials())
	}
	contains(t, seen.String(), `scheduler has changed from {"plugin":"fifo"} to {"max":4,"plugin":"asha"}: it holds `+
		"for new trials", "--clone TRIAL")
}
