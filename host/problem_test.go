package host

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config/request"
	"github.com/tunehost/tunehost/plugins/schedulers/resources"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-037: a scheduler is told what trials ask for and what there was in all when the
// experiment began: the same when it continues with another machine.
func TestPluginsKnowTheMachine(t *testing.T) {
	var told []sdk.Problem
	curious := sdk.SchedulerPlugin{
		Info: sdk.Info{Name: "curious", Version: "1", Options: noOptions},
		Open: func(p sdk.Problem, _ []byte) (sdk.Scheduler, sdk.Traits, error) {
			told = append(told, p)
			return hearing(func(sdk.Event) {}), sdk.Traits{}, nil
		},
	}
	o, _ := quick(t, "version: 1\nobjective: {metric: loss, mode: min}\ntrainable: {plugin: chaos, options: "+
		"{any_params: true}}\nspace: {x: {uniform: [0, 1]}}\n"+
		"scheduler: curious\nresources: {cpu: 0.5, licence: 2}\ntrials: 1\n", curious)
	o.Resources = "cpu=8,licence=5"
	finish(t, o)
	o.Resources, o.Sets = "cpu=2,licence=2", []string{"trials=2"}
	finish(t, o)
	if len(told) != 2 {
		t.Fatalf("opened %d times", len(told))
	}
	for i, p := range told {
		if got, want := string(p.Request), `{"cpu":"0.5","licence":"2"}`; got != want {
			t.Errorf("host %d: trials ask for %s, want %s", i, got, want)
		}
		contains(t, string(p.Capacity), `"cpu":"8"`, `"licence":"5"`)
	}
}

// B-037: what trials that have ended leave is given to the one that trains, without an
// option that says what there is.
func TestResourcesAreGivenOn(t *testing.T) {
	o, _ := quick(t, "version: 1\nobjective: {metric: loss, mode: min}\ntrainable: {plugin: chaos, options: "+
		"{iterations: 12, any_params: true}}\nspace: {x: {uniform: [0, 1]}}\n"+
		"scheduler: {plugin: resources, interval: 2}\nresources: {cpu: 2}\ntrials: 1\n", resources.Plugin)
	o.Resources = "cpu=7"
	had := ""
	audit(t, finish(t, o).Dir, func(m *core.Machine, _ core.Event) {
		if m.Running() > 0 {
			had = string(request.Sum(m.Request(0)))
		}
	})
	if had != `{"cpu":"6"}` {
		t.Errorf("it had %s in the end, want three slots of 2", had)
	}
}
