package main

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

var long = flag.Bool("long", false, "give plugins in processes the large experiments too")

// configured are plugins with options that select other algorithms.
var configured = []struct {
	kind          sdk.Kind
	name, options string
}{
	{sdk.KindScheduler, "auto", `{"max": 9}`},
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
	{sdk.KindExecutor, "fake", `{"nodes": 2, "gpu": 1, "queue": 0.05}`},
	{sdk.KindExecutor, "fake", `{"nodes": 2, "gpu": 2, "time": 1000, "slow": 0.01}`},
	{sdk.KindExecutor, "fake", `{"nodes": 2, "gpu": 1, "agents": true}`},
}

// shell is a program that prints a few results and exits.
const shell = `i=10; while [ $i -lt 19 ]; do i=$((i+1)); echo "{\"loss\": 0.$i}"; sleep 0.01; done`

// needs returns the options and parameters that a plugin needs to work, or to be fast.
func needs(kind sdk.Kind, name string) (o conformance.Options) {
	switch {
	case kind == sdk.KindTrainable && name == "command":
		o.Options, _ = json.Marshal(map[string]any{"command": []string{"/bin/sh", "-c",
			strings.ReplaceAll(strings.ReplaceAll(shell, "{", "{{"), "}", "}}")}})
	case kind == sdk.KindExecutor && name == "batch":
		o.Options = batchOptions()
	case name == "digits":
		o.Params = json.RawMessage(`{"epochs": 9, "units": 4}`)
	}
	return o
}

// batchOptions are a batch system of local processes, in the experiment's directory.
func batchOptions() json.RawMessage {
	queue, err := filepath.Abs("../../plugins/executors/batch/testdata/queue.sh")
	if err != nil {
		panic(err)
	}
	queue += " queue "
	options, _ := json.Marshal(map[string]any{"system": "pbs", "submit": queue + "submit {name} {nodes} {cpu} {script}",
		"status": queue + "status {id}", "cancel": queue + "cancel {id}", "list": queue + "list {name}",
		"launch": queue + "launch {nodes}", "poll": 0.05})
	return options
}

// needsCluster reports whether a plugin needs a cluster: its own tests run the suite on one.
func needsCluster(i sdk.Info) bool { return i.Kind == sdk.KindExecutor && i.Name == "slurm" }

// TestConformanceInProcess checks that everything bundled follows the rules, as Go values.
func TestConformanceInProcess(t *testing.T) {
	for _, i := range plugins.Infos() {
		if needsCluster(i) {
			continue
		}
		parallel(t, i.Kind, i.Name, func(t *testing.T) {
			doors[i.Kind](t, conformance.InProcess(plugins.Lookup(i.Kind, i.Name)), needs(i.Kind, i.Name))
		})
	}
	for _, c := range configured {
		parallel(t, c.kind, c.name+" "+c.options, func(t *testing.T) {
			doors[c.kind](t, conformance.InProcess(plugins.Lookup(c.kind, c.name)),
				conformance.Options{Options: json.RawMessage(c.options)})
		})
	}
}

// TestConformanceProcesses checks the same for processes, with small experiments. The process adds the
// same to all bundled plugins, so that each runs its share of the checks; with -long each runs all,
// and large experiments.
func TestConformanceProcesses(t *testing.T) {
	const share = 6
	for n, i := range plugins.Infos() {
		if needsCluster(i) {
			continue
		}
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

// TestConformanceWASM checks that searchers and schedulers follow the rules as WASM modules, each with
// its share of the checks.
func TestConformanceWASM(t *testing.T) {
	const share = 12
	module := sandboxtest.Build(t, "../../host/plugin/sandbox/testdata/twin")
	warm := sandboxtest.Process(t, sandbox.Config{Kind: sdk.KindSearcher, Name: "random", Path: module,
		Cache: sandboxtest.Cache(t), Grants: sandbox.Grants{Env: []string{"SEARCHER"}}})
	warm.Env = append(warm.Env, "SEARCHER=random")
	conformance.Warm(t.Context(), conformance.Process(warm))
	for n, i := range plugins.Infos() {
		if i.Kind != sdk.KindSearcher && i.Kind != sdk.KindScheduler {
			continue
		}
		variable := strings.ToUpper(string(i.Kind))
		config := sandboxtest.Process(t, sandbox.Config{Kind: i.Kind, Name: i.Name, Path: module,
			Cache:  sandboxtest.Cache(t),
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
	sdk.KindSearcher: conformance.RunSearcher, sdk.KindScheduler: conformance.RunScheduler,
	sdk.KindTrainable: conformance.RunTrainable, sdk.KindExecutor: conformance.RunExecutor,
}

func parallel(t *testing.T, kind sdk.Kind, title string, f func(*testing.T)) {
	t.Run(string(kind)+" "+title, func(t *testing.T) {
		t.Parallel()
		f(t)
	})
}
