package conformance

import (
	"encoding/json"
	"flag"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/schedulers/hyperband"
	"github.com/tunehost/tunehost/plugins/schedulers/median"
	"github.com/tunehost/tunehost/plugins/schedulers/pbt"
	"github.com/tunehost/tunehost/plugins/sdk"
)

var salts = flag.Uint64("salts", 3, "how many other plays the bundled schedulers are given")

// TestWorlds runs the plays on the bundled schedulers with other salts than the suite's.
func TestWorlds(t *testing.T) {
	for _, c := range []struct {
		plugin  sdk.SchedulerPlugin
		options string
	}{
		{asha.Plugin, `{"max": 27}`}, {asha.Plugin, `{"type": "promotion", "max": 27}`},
		{asha.Plugin, `{"type": "promotion", "max": 27, "brackets": 3, "reduction_factor": 2}`},
		{hyperband.Plugin, `{"max": 9}`}, {hyperband.Plugin, `{"max": 27, "reduction_factor": 2}`},
		{median.Plugin, `{}`}, {pbt.Plugin, `{"interval": 4}`}, {pbt.Plugin, `{"interval": 4, "sync": true}`},
	} {
		t.Run(c.plugin.Name+" "+c.options, func(t *testing.T) {
			for salt := range *salts {
				others(t, InProcess(c.plugin), c.options, salt+1)
			}
		})
	}
}

// others runs the checks with plays; the number of trials is planned in all of them, because some
// options need it.
func others(t *testing.T, open Open, options string, salt uint64) {
	for _, c := range Checks(sdk.KindScheduler) {
		if !slices.Contains([]string{"play", "repeat-play", "rebatch-play", "restore-scheduler", "restart-scheduler"},
			c.Verb) {
			continue
		}
		var play map[string]any
		if err := json.Unmarshal(c.With, &play); err != nil {
			t.Fatal(err)
		}
		play["salt"], play["planned"] = salt, true
		c.With, _ = json.Marshal(play)
		r := run(t.Context(), c, sdk.KindScheduler, open, Options{Options: json.RawMessage(options), Short: true},
			&declared{})
		if r.Outcome == Failed {
			t.Errorf("salt %d: %s: want %s; saw %s", salt, r.Check, r.Want, r.Saw)
		}
	}
}
