package config

import (
	"encoding/json"
	"testing"

	"github.com/tunehost/tunehost/plugins/catalog"
)

// The defaults of the option max are those of the bundled schedulers that end trials there.
func TestSchedulersWithEnd(t *testing.T) {
	for _, p := range catalog.Schedulers {
		var s struct {
			Properties map[string]struct {
				Default any `json:"default"`
			} `json:"properties"`
		}
		if err := json.Unmarshal([]byte(p.Options), &s); err != nil {
			t.Fatal(err)
		}
		end, listed := schedulersWithEnd[p.Name]
		m, has := s.Properties["max"]
		has = has && p.Name != "resources" // its max counts slots
		if has != listed || has && m.Default != float64(end) {
			t.Errorf("%s: max is %v (%t), listed as %d (%t)", p.Name, m.Default, has, end, listed)
		}
	}
}

// The lower one of stop.iteration and of the scheduler's max ends trials.
func TestLastIteration(t *testing.T) {
	for _, c := range []struct {
		stop      int64
		scheduler PluginRef
		last      uint64
		key       string
	}{
		{0, PluginRef{}, 0, ""},
		{7, PluginRef{Name: "fifo", Options: []byte("{}")}, 7, "stop.iteration"},
		{7, PluginRef{Name: "asha", Options: []byte("{}")}, 7, "stop.iteration"},
		{200, PluginRef{Name: "asha", Options: []byte("{}")}, 100, "scheduler.max"},
		{0, PluginRef{Name: "pbt", Options: []byte("{}")}, 0, ""},
		{20, PluginRef{Name: "pbt", Options: []byte(`{"max":15}`)}, 15, "scheduler.max"},
		{0, PluginRef{Name: "resources", Options: []byte(`{"max":2}`)}, 0, ""},
	} {
		var e Experiment
		e.Stop.Iteration, e.Scheduler = c.stop, c.scheduler
		if last, key := e.LastIteration(); last != c.last || key != c.key {
			t.Errorf("%+v: %d by %q", c, last, key)
		}
	}
}
