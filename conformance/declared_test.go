package conformance_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/executors/fake"
	"github.com/tunehost/tunehost/plugins/schedulers/median"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/tpe"
	"github.com/tunehost/tunehost/plugins/trainables/chaos"
)

// A check that does not apply to what the plugin has declared does not start it.
func TestDeclaredOnce(t *testing.T) {
	for _, c := range []struct {
		kind    sdk.Kind
		plugin  any
		options string
		lacks   []string
	}{
		{sdk.KindSearcher, tpe.Plugin, "", []string{"it makes no snapshots", "its suggestions depend on results"}},
		{sdk.KindScheduler, median.Plugin, "", []string{"it makes no snapshots", "it is not quiet"}},
		{sdk.KindTrainable, chaos.Plugin, `{"reusable": false, "saves": false}`, []string{"it makes no checkpoints",
			"its process is not reused", "its process is not shared", "its process takes one trial"}},
		{sdk.KindExecutor, fake.Plugin, "", []string{"it starts no agents"}},
	} {
		starts, before, found := 0, 0, map[string]bool{}
		open := counting(conformance.InProcess(c.plugin), &starts)
		o := conformance.Options{Short: true, Options: json.RawMessage(c.options)}
		err := conformance.Run(t.Context(), c.kind, open, o, func(r conformance.Result) {
			if slices.Contains(c.lacks, r.Why) {
				found[r.Why] = true
				if starts > before {
					t.Errorf("%s (%s): %d starts", r.Check, r.Why, starts-before)
				}
			}
			before = starts
		})
		if err != nil || len(found) != len(c.lacks) {
			t.Errorf("expected checks without %q, found %v; %v", c.lacks, found, err)
		}
	}
}

// Subtests of a plugin share what it has declared, as the checks of a command do.
func TestDeclaredToSubtests(t *testing.T) {
	starts, expected := 0, 0
	o := conformance.Options{Only: "scheduler/[dort]*", Short: true}
	err := conformance.Run(t.Context(), sdk.KindScheduler, counting(conformance.InProcess(median.Plugin), &expected), o,
		func(conformance.Result) {})
	if err != nil {
		t.Fatal(err)
	}
	conformance.RunScheduler(t, counting(conformance.InProcess(median.Plugin), &starts), o)
	if starts != expected {
		t.Errorf("%d starts, expected %d", starts, expected)
	}
}

func counting(open conformance.Open, starts *int) conformance.Open {
	return func(ctx context.Context) (plugin.Plugin, error) {
		*starts++
		return open(ctx)
	}
}
