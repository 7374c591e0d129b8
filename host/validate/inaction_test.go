package validate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/catalog"
)

// doubtsOf are the warnings of check about a file.
func doubtsOf(t *testing.T, check func(*config.Experiment) []*config.Error, text string) string {
	t.Helper()
	e, err := config.Parse("a.yaml", []byte("version: 1\nobjective: {metric: loss, mode: min}\n"+
		"trainable: {command: [train]}\n"+text+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, x := range check(e) {
		if texts = append(texts, x.Msg); x.Pos.Line == 0 {
			t.Errorf("%s: %q has no place", text, x.Msg)
		}
	}
	return strings.Join(texts, "\n")
}

// A scheduler that can do nothing before the trials end, or among as few trials, is a warning.
func TestInactiveSchedulers(t *testing.T) {
	t.Parallel()
	const space = "space: {x: {uniform: [0, 1]}}\n"
	for text, want := range map[string]string{
		"scheduler: median\nstop: {iteration: 4}\ntrials: 9": "scheduler median does nothing: by grace it acts from " +
			"iteration 4 on, and stop.iteration ends trials at iteration 4: change",
		"scheduler: median\nstop: {iteration: 5}\ntrials: 9": "",
		"scheduler: median\ntrials: 3": "scheduler median does nothing: it compares a trial with 3 others or more " +
			"(min_trials), and the experiment has 3 trials",
		"scheduler: median\ntrials: 4":                                             "",
		"scheduler: median\ntrials: -1":                                            "",
		"scheduler: {plugin: pbt, interval: 20}\nstop: {iteration: 20}":            "by interval it acts",
		"scheduler: {plugin: pb2, burn_in: 30, max: 30}\ntrials: 9":                "and scheduler.max ends trials",
		"scheduler: {plugin: pbt, interval: 20}\nstop: {iteration: 40}\ntrials: 9": "",
		"scheduler: {plugin: pbt, interval: 20}\ntrials: 1": "with one other or more, and the experiment has one " +
			"trial",
		"scheduler: patience\nstop: {iteration: 11}\ntrials: 9":         "by patience it acts",
		"scheduler: patience\nstop: {iteration: 12}\ntrials: 9":         "",
		"scheduler: {plugin: patience, limit: 3}\nstop: {iteration: 5}": "",
		"scheduler: {plugin: asha, grace: 9}\nstop: {iteration: 9}":     "by grace it acts from iteration 9",
		"scheduler: wilcoxon\nstop: {iteration: 2}":                     "by startup_folds it acts",
		"scheduler: asha\nstop: {iteration: 9}":                         "",
		"scheduler: ./mine\nstop: {iteration: 9}":                       "",
		"scheduler: fifo\nstop: {iteration: 1}":                         "",
	} {
		if got := doubtsOf(t, inactive, space+text); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// The defaults are those of the bundled schedulers.
func TestTimings(t *testing.T) {
	for _, p := range catalog.Schedulers {
		var s struct {
			Properties map[string]struct {
				Default any `json:"default"`
			} `json:"properties"`
		}
		if err := json.Unmarshal([]byte(p.Options), &s); err != nil {
			t.Fatal(err)
		}
		x, listed := timings[p.Name]
		if !listed {
			continue
		}
		for key, want := range map[string]float64{"grace": x.Grace, "interval": x.Interval, "burn_in": x.BurnIn,
			"patience": x.Patience, "startup_folds": x.Startup} {
			if o, has := s.Properties[key]; has && o.Default != want || !has && want != 0 {
				t.Errorf("%s: %s is %v, listed as %v", p.Name, key, o.Default, want)
			}
		}
		if o, has := s.Properties["min_trials"]; has && o.Default != x.Others {
			t.Errorf("%s: min_trials is %v, listed as %v", p.Name, o.Default, x.Others)
		}
	}
}

// A parameter whose condition never holds is a warning.
func TestImpossibleConditions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"space: {x: {uniform: [0, 1]}, y: {uniform: [0, 1], when: 'x > 2.0'}}":                "of y holds at none",
		"space: {x: {uniform: [0, 1]}, y: {uniform: [0, 1], when: 'x > 0.99'}}":               "",
		"space: {x: {uniform: [0, 1], open: true}, y: {uniform: [0, 1], when: 'x > 2.0'}}":    "",
		"space: {k: {choice: [a, b]}, g: {y: {int: [1, 9], when: \"k == 'a' && k == 'b'\"}}}": "the condition of g/y",
		"space: {k: {grid: [a, b]}, y: {int: [1, 9], when: \"k == 'b'\"}}":                    "",
	} {
		if got := doubtsOf(t, impossible, text); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
