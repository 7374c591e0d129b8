package main

import (
	"encoding/json"
	"flag"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

var long = flag.Bool("long", false, "give plugins in processes the large experiments too")

// configured are plugins with options that make other algorithms of them.
var configured = []struct {
	kind          sdk.Kind
	name, options string
}{
	{sdk.KindScheduler, "asha", `{"type": "promotion", "max": 27}`},
	{sdk.KindScheduler, "asha", `{"type": "promotion", "max": 27, "brackets": 3, "grace": 2, "reduction_factor": 2}`},
	{sdk.KindScheduler, "pasha", `{"max": 27, "grace": 2, "reduction_factor": 2, "epsilon": 0.01}`},
	{sdk.KindScheduler, "hyperband", `{"max": 9}`},
	{sdk.KindScheduler, "hyperband", `{"max": 27, "reduction_factor": 2}`},
	{sdk.KindScheduler, "pbt", `{"interval": 4}`},
	{sdk.KindScheduler, "pbt", `{"interval": 5, "burn_in": 7, "max": 25, "resample": 1, "quantile": 0.5}`},
	{sdk.KindScheduler, "pb2", `{"interval": 4, "quantile": 0.5, "resample": 0}`},
	{sdk.KindScheduler, "mf-pbt", `{"interval": 2, "periods": [1, 3], "quantile": 0.5, "resample": 0}`},
	{sdk.KindScheduler, "pbt-replay", `{"policy": [{"iteration": 4, "params": {}}, {"iteration": 9, "params": {}}]}`},
	{sdk.KindScheduler, "resources", `{"interval": 3, "slots": 100}`},
	{sdk.KindScheduler, "resources", `{"interval": 2, "slots": 64, "give": "best", "max": 7}`},
	{sdk.KindScheduler, "bohb", `{"max": 9, "min": 2, "reduction_factor": 2}`},
	{sdk.KindScheduler, "moasha", `{"max": 27, "grace": 2, "reduction_factor": 2}`},
	{sdk.KindScheduler, "wilcoxon", `{"p_threshold": 0.5, "startup_folds": 1}`},
	{sdk.KindScheduler, "median", `{"grace": 1, "min_trials": 1}`},
	{sdk.KindScheduler, "patience", `{"patience": 2, "limit": 1.5}`},
	{sdk.KindSearcher, "tpe", `{"startup": 3, "multivariate": false, "liar": false}`},
	{sdk.KindSearcher, "grid", `{"resolution": 1}`},
	{sdk.KindTrainable, "chaos", `{"shared": true, "any_params": true, "done": true}`},
	{sdk.KindTrainable, "chaos", `{"reusable": false, "saves": false}`},
}

// shell is a program that prints a few results and exits.
const shell = `i=10; while [ $i -lt 19 ]; do i=$((i+1)); echo "{\"loss\": 0.$i}"; sleep 0.01; done`

// needs are options and parameters without which a plugin does not work, or is
// slow.
func needs(kind sdk.Kind, name string) (o conformance.Options) {
	switch {
	case kind == sdk.KindTrainable && name == "command":
		o.Options, _ = json.Marshal(map[string]any{"command": []string{"/bin/sh", "-c", strings.ReplaceAll(strings.ReplaceAll(shell, "{", "{{"), "}", "}}")}})
	case name == "digits":
		o.Params = json.RawMessage(`{"epochs": 9, "units": 4}`)
	}
	return o
}

// TestConformanceInProcess: all that comes with tunehost keeps the rules, as Go
// values.
func TestConformanceInProcess(t *testing.T) {
	for _, i := range plugins.Infos() {
		parallel(t, i.Kind, i.Name, func(t *testing.T) {
			doors[i.Kind](t, conformance.InProcess(plugins.Lookup(i.Kind, i.Name)), needs(i.Kind, i.Name))
		})
	}
	for _, c := range configured {
		parallel(t, c.kind, c.name+" "+c.options, func(t *testing.T) {
			doors[c.kind](t, conformance.InProcess(plugins.Lookup(c.kind, c.name)), conformance.Options{Options: json.RawMessage(c.options)})
		})
	}
}

// TestConformanceProcesses: so it does as processes, with small experiments. What
// a process adds is the same for all bundled plugins, so that each is given its
// share of the checks; with -long it is given all, and large experiments.
func TestConformanceProcesses(t *testing.T) {
	const share = 6
	for n, i := range plugins.Infos() {
		config, _ := plugins.Config(i.Kind, i.Name)
		o := needs(i.Kind, i.Name)
		o.Short = !*long
		parallel(t, i.Kind, i.Name, func(t *testing.T) {
			for k, c := range conformance.Checks(i.Kind) {
				if o.Only = c.Name; *long || (k+n)%share == 0 {
					doors[i.Kind](t, conformance.Process(config), o)
				}
			}
		})
	}
}

// TestConformanceWASM: searchers and schedulers keep the rules as WASM modules, too,
// each with its share of the checks.
func TestConformanceWASM(t *testing.T) {
	const share = 12
	module := sandboxtest.Build(t, "../../host/plugin/sandbox/testdata/twin")
	warm := sandboxtest.Process(t, sandbox.Config{Kind: sdk.KindSearcher, Name: "random", Path: module,
		Cache: sandboxtest.Cache(t), Grants: sandbox.Grants{Env: []string{"SEARCHER"}}})
	warm.Env = append(warm.Env, "SEARCHER=random")
	conformance.Warm(t.Context(), conformance.Process(warm))
	for n, i := range plugins.Infos() {
		if i.Kind == sdk.KindTrainable {
			continue
		}
		variable := strings.ToUpper(string(i.Kind))
		config := sandboxtest.Process(t, sandbox.Config{Kind: i.Kind, Name: i.Name, Path: module, Cache: sandboxtest.Cache(t),
			Grants: sandbox.Grants{Env: []string{variable}}})
		config.Env = append(config.Env, variable+"="+i.Name)
		config.Log = nil // it outlives the test that it would log to
		o := needs(i.Kind, i.Name)
		o.Short = true
		parallel(t, i.Kind, i.Name, func(t *testing.T) {
			for k, c := range conformance.Checks(i.Kind) {
				if o.Only = c.Name; *long || (k+n)%share == 0 {
					doors[i.Kind](t, conformance.Process(config), o)
				}
			}
		})
	}
}

var doors = map[sdk.Kind]func(*testing.T, conformance.Open, ...conformance.Options){
	sdk.KindSearcher: conformance.RunSearcher, sdk.KindScheduler: conformance.RunScheduler, sdk.KindTrainable: conformance.RunTrainable,
}

func parallel(t *testing.T, kind sdk.Kind, title string, f func(*testing.T)) {
	t.Run(string(kind)+" "+title, func(t *testing.T) {
		t.Parallel()
		f(t)
	})
}
