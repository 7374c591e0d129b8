package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest"
)

// place puts a module beside the experiment file.
func place(t *testing.T, o Options, name, module string) {
	t.Helper()
	b, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(o.File), name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// An experiment whose three plugins are WASM modules.
func TestModules(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", sandboxtest.CacheHome())
	o, _ := quiet(t, `
version: 1
objective: {metric: loss, mode: min}
trainable: {plugin: ./descent.wasm, options: {epochs: 6}}
space: {lr: {loguniform: [1e-5, 1e-2]}, momentum: {uniform: [0, 0.9]}}
searcher: {plugin: ./climber.wasm, start: 3}
scheduler: {plugin: ./halfway.wasm, at: 3}
trials: 12
concurrency: 2
resources: {cpu: 0}
seed: 7
checkpoint: {every: 2}
`)
	const samples = "github.com/tunehost/tunehost/plugins/sdk/samples/"
	place(t, o, "climber.wasm", sandboxtest.Build(t, samples+"searcher"))
	place(t, o, "halfway.wasm", sandboxtest.Build(t, samples+"scheduler"))
	place(t, o, "descent.wasm", sandboxtest.Build(t, samples+"resumable"))
	ended := finish(t, o)
	if ended.Outcome != core.Finished || ended.Errored != 0 {
		t.Fatalf("%+v", ended)
	}
	m := audit(t, ended.Dir, nil)
	stopped := 0
	for no := range core.TrialNo(m.Trials()) {
		if strings.Contains(m.View(no).Reason(), "the median of") {
			stopped++
		}
	}
	if stopped == 0 {
		t.Error("halfway has stopped no trial")
	}
	if states, _ := filepath.Glob(filepath.Join(ended.Dir, "trials", "*", "checkpoints", "*", "files",
		"state")); len(states) == 0 {
		t.Error("descent has saved no state")
	}
}

// B-077: a module that fails again and again ends the experiment, with what it did.
func TestBrokenModules(t *testing.T) {
	for name, want := range map[string]string{
		"trap": `searcher "./trap.wasm" failed 3 times within 1m0s, and is given up; the last time: searcher ` +
			`"./trap.wasm" failed in Suggest: the module trapped: unreachable`,
		"loop": `searcher "./loop.wasm" failed 3 times within 1m0s, and is given up; the last time: searcher ` +
			`"./loop.wasm" did not answer Suggest for 400ms, and was killed`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, seen := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {any_params: true}}
space: {x: {uniform: [0, 1]}}
searcher: ./`+name+`.wasm
trials: 2
sandbox: {call_timeout: 400ms}
`)
			place(t, o, name+".wasm", "plugin/sandbox/testdata/broken/"+name+".wasm")
			ended, err := run(t.Context(), o)
			text := seen.String() + ended.Reason
			if err != nil {
				text += err.Error()
			}
			if err == nil && ended.Outcome == core.Finished {
				t.Fatalf("%+v", ended)
			}
			contains(t, text, want)
		})
	}
}

func TestNoModule(t *testing.T) {
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {any_params: true}}
space: {x: {uniform: [0, 1]}}
searcher: ./nosuch.wasm
`)
	contains(t, refused(t, o), "test.yaml:5:11:", "nosuch.wasm: there is no such file or folder")
}
