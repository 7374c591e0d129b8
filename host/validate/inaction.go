package validate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/spec"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// timing are the options of bundled schedulers that say when they act, with their defaults.
type timing struct {
	Grace    float64  `json:"grace"`
	Interval float64  `json:"interval"`
	BurnIn   float64  `json:"burn_in"`
	Patience float64  `json:"patience"`
	Limit    *float64 `json:"limit"`
	Startup  float64  `json:"startup_folds"`
	Others   float64  `json:"min_trials"`
}

// timings are the bundled schedulers that can do nothing before some iteration.
var timings = map[string]timing{"asha": {Grace: 1}, "moasha": {Grace: 1}, "pasha": {Grace: 1},
	"median": {Grace: 4, Others: 3}, "patience": {Grace: 1, Patience: 10}, "wilcoxon": {Startup: 2},
	"pbt": {Interval: 10, Others: 1}, "pb2": {Interval: 10, Others: 1}, "mf-pbt": {Interval: 10, Others: 1}}

// first returns the first iteration at which the scheduler can act, and the option that says so.
func (t timing) first() (at float64, key string) {
	at, key = 1, "grace"
	patience := t.Patience + 1
	if t.Limit != nil {
		patience = 0
	}
	for _, x := range []struct {
		key string
		at  float64
	}{{"grace", t.Grace}, {"interval", t.Interval}, {"burn_in", t.BurnIn}, {"patience", patience},
		{"startup_folds", t.Startup}} {
		if x.at > at {
			at, key = x.at, x.key
		}
	}
	return at, key
}

// inactive warns of a bundled scheduler that can do nothing before the trials end, or with as few trials.
func inactive(e *config.Experiment) []*config.Error {
	t, known := timings[e.Scheduler.Name]
	if !known || len(e.Scheduler.Options) > 0 && json.Unmarshal(e.Scheduler.Options, &t) != nil {
		return nil
	}
	at, name := e.PosOf("scheduler"), e.Scheduler.Name
	last, by := e.LastIteration()
	if first, key := t.first(); last > 0 && first >= float64(last) {
		return []*config.Error{doubt(at, "scheduler %s does nothing: by %s it acts from iteration %g on, and %s ends "+
			"trials at iteration %d: change one of them, or leave the scheduler out", name, key, first, by, last)}
	}
	if runs := spec.Runs(e); e.Space != nil && runs > 0 && t.Others >= float64(runs) {
		return []*config.Error{doubt(at, "scheduler %s does nothing: it compares a trial with %s, and the experiment "+
			"has %s: change one of them, or leave the scheduler out", name, t.others(name), trials(runs))}
	}
	return nil
}

// others says with how many others the scheduler compares a trial.
func (t timing) others(scheduler string) string {
	text := fmt.Sprintf("%g others or more", t.Others)
	if t.Others == 1 {
		text = "one other or more"
	}
	if scheduler == "median" { // where this is an option
		text += " (min_trials)"
	}
	return text
}

func trials(n int64) string {
	if n == 1 {
		return "one trial"
	}
	return fmt.Sprintf("%d trials", n)
}

// inPoints reports whether a point of the user has a parameter.
func inPoints(e *config.Experiment, i int) bool {
	return slices.ContainsFunc(e.Points, func(p config.Point) bool { return !math.IsNaN(p.Given[i]) })
}

// impossible warns of parameters whose condition holds nowhere: no trial has them. A point of the user may have one,
// and an open parameter may have any number.
func impossible(e *config.Experiment) (list []*config.Error) {
	if e.Space == nil || slices.ContainsFunc(e.Space.Params, func(p space.Param) bool { return p.Open }) {
		return nil
	}
	missing := map[int]bool{}
	for i := range e.Space.Params {
		missing[i] = !inPoints(e, i)
	}
	const draws = 5000
	rng := space.NewRand(0)
	for n := 0; len(missing) > 0 && n < draws; n++ {
		x := e.Space.Draw(rng)
		e.Prune(x)
		for i := range missing {
			if !missing[i] || !math.IsNaN(x[i]) {
				delete(missing, i)
			}
		}
	}
	for i, p := range e.Space.Params {
		if missing[i] {
			at := e.PosOf("space." + strings.ReplaceAll(p.Name, "/", "."))
			list = append(list, doubt(at, "the condition of %s holds at none of %d random points: no trial, or hardly "+
				"any, has this parameter: check when", p.Name, draws))
		}
	}
	return list
}
