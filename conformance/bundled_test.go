package conformance_test

import (
	"encoding/json"
	"flag"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/conformance"
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
	{sdk.KindScheduler, "hyperband", `{"max": 9}`},
	{sdk.KindScheduler, "hyperband", `{"max": 27, "reduction_factor": 2}`},
	{sdk.KindScheduler, "pbt", `{"interval": 4}`},
	{sdk.KindScheduler, "pbt", `{"interval": 5, "burn_in": 7, "max": 25, "resample": 1, "quantile": 0.5}`},
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

// TestInProcess: all that comes with tunehost passes, as Go values.
func TestInProcess(t *testing.T) {
	for _, i := range plugins.Infos() {
		run(t, i.Kind, i.Name, i.Name, needs(i.Kind, i.Name), conformance.InProcess(plugins.Lookup(i.Kind, i.Name)))
	}
	for _, c := range configured {
		o := conformance.Options{Options: json.RawMessage(c.options)}
		run(t, c.kind, c.name, c.name+" "+c.options, o, conformance.InProcess(plugins.Lookup(c.kind, c.name)))
	}
}

// TestProcesses: so it does as processes.
func TestProcesses(t *testing.T) {
	for _, i := range plugins.Infos() {
		config, _ := plugins.Config(i.Kind, i.Name)
		o := needs(i.Kind, i.Name)
		o.Short = !*long
		run(t, i.Kind, i.Name, i.Name, o, conformance.Process(config))
	}
}

func run(t *testing.T, kind sdk.Kind, name, title string, o conformance.Options, open conformance.Open) {
	door := map[sdk.Kind]func(*testing.T, conformance.Open, ...conformance.Options){
		sdk.KindSearcher: conformance.RunSearcher, sdk.KindScheduler: conformance.RunScheduler, sdk.KindTrainable: conformance.RunTrainable,
	}[kind]
	t.Run(string(kind)+" "+title, func(t *testing.T) {
		t.Parallel()
		door(t, open, o)
	})
}
