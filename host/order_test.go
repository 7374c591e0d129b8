package host

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/auto"
	"github.com/tunehost/tunehost/plugins/searchers/bohb"
	"github.com/tunehost/tunehost/plugins/searchers/cmaes"
	"github.com/tunehost/tunehost/plugins/searchers/gp"
)

// hurried is a trial that reports as fast or as slowly as it likes: it runs ahead of
// decisions by one result, and when it was told to stop it may have reported another.
type hurried struct {
	starts
	host    *hosttest.SteppedHost
	running core.StartAttempt
	alive   bool
	stopped bool
	credits int
	ahead   int // of them, given before the decision
	at      uint64
}

func (h *hurried) Doing(a core.Action) {
	switch a := a.(type) {
	case core.StartAttempt:
		h.running, h.alive, h.stopped, h.credits, h.at, h.ahead = a, true, false, 1, 0, 0
	case core.ContinueAttempt:
		early := min(h.ahead, int(a.Credits))
		h.ahead -= early
		h.credits += int(a.Credits) - early
	case core.RunAhead: // at once: it is impatient
		h.credits, h.ahead = h.credits+1, h.ahead+1
	case core.StopAttempt:
		h.stopped = true
	}
}

// trains is one epoch, or the end.
func (h *hurried) trains() bool {
	switch {
	case !h.alive:
		return false
	case h.at == 9 || h.stopped && h.credits%2 == 0:
		h.alive = false
		h.host.Post(&core.AttemptEnded{Trial: h.running.Trial, Attempt: h.running.Attempt})
		return true
	case h.credits == 0 && !h.stopped:
		return false
	}
	h.at++
	h.credits--
	value := float64(mix(uint64(h.running.Trial)<<8+h.at)%1000) / float64(h.at)
	_ = h.host.Report(h.running.Trial, h.running.Attempt,
		sdk.Result{Iteration: h.at, Metrics: []sdk.Metric{{Name: "score", Value: value}}})
	return true
}

// raced runs an experiment of one trial at a time, in which every part with something to do is
// as slow as the dice say.
func raced(t *testing.T, searcher string, dice uint64) []string {
	t.Helper()
	e, err := config.Parse("race.yaml", []byte(`
version: 1
seed: 1
objective: {metric: score, mode: min}
space: {x: {uniform: [0, 1]}, y: {uniform: [0, 1]}}
searcher: `+searcher+`
scheduler: {plugin: asha, max: 9, grace: 1, reduction_factor: 2}
concurrency: 1
trials: 30
`), config.WithoutTrainable())
	if err != nil {
		t.Fatal(err)
	}
	capacity, err := resource.ParseBundle("cpu=1")
	if err != nil {
		t.Fatal(err)
	}
	trial := &hurried{}
	r := &hosttest.Harness{Experiment: e, Seed: 1, RunID: journal.RunID{1}, Clock: clock.System{},
		Record:  journaltest.New(1),
		Plugins: bundled.New(asha.Plugin, gp.Plugin, cmaes.Plugin, auto.Plugin, bohb.Plugin),
		Nodes:   []resource.Node{{ID: 1, Capacity: capacity}}, Probe: trial}
	if trial.host, err = r.Start(); err != nil {
		t.Fatal(err)
	}
	race(t, trial, rand.New(rand.NewPCG(dice, 1)))
	if o, why := trial.host.Machine().Outcome(); o != core.Finished {
		t.Fatalf("%v: %s", o, why)
	}
	return params(trial.host.Machine())
}

// race continues until nobody has anything to do: each time one of them acts, in an order
// that is drawn.
func race(t *testing.T, trial *hurried, r *rand.Rand) {
	t.Helper()
	h := trial.host
	step := func() bool {
		busy, err := h.Step()
		if err != nil {
			t.Fatal(err)
		}
		return busy
	}
	delivers := func() bool {
		h.DeliverDecisions()
		h.DeliverSuggestions()
		return step()
	}
	all := []func() bool{step, h.Decide, h.Suggest, delivers, trial.trains, trial.trains, trial.trains}
	for !h.Over() {
		busy := false
		for _, i := range r.Perm(len(all)) {
			busy = all[i]() || busy
		}
		if !busy {
			return
		}
	}
}

// B-009 B-010 B-102: what a trial reports after the result that stops it counts nowhere,
// whether it comes before the decision or after it. The same seed is the same search, however
// slow the scheduler, the searcher and the trial are.
func TestSearchDoesNotDependOnSpeed(t *testing.T) {
	for _, searcher := range []string{"gp", "cmaes", "auto", "bohb"} {
		t.Run(searcher, func(t *testing.T) {
			t.Parallel()
			want := raced(t, searcher, 0)
			for dice := range uint64(6) {
				if got := raced(t, searcher, dice+1); !slices.Equal(got, want) {
					t.Fatalf("another order of the same things, another search:\n%s\nand\n%s", strings.Join(want, "\n"),
						strings.Join(got, "\n"))
				}
			}
		})
	}
}
