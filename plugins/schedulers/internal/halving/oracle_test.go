package halving_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/halving"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// oracle is a second implementation of the rules: after each event it examines all trials of the
// bracket.
type oracle struct {
	plans    []halving.Plan
	factor   int
	planned  int
	over     bool // the search has ended
	trials   map[uint32]*state
	brackets []*group
}

// A group is a bracket; racing are the trials that started towards its milestone.
type group struct {
	halving.Plan
	stage, joined int
	racing        []uint32
}

type state struct {
	of      *group
	phase   string // "", pausing, paused, waking, stopping, ended
	asked   bool
	arrived bool
	loss    float64
}

func (s *oracle) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, _ error) {
	for _, e := range events {
		if e.Kind == sdk.SearchEnded {
			s.over = true
			s.halve(s.brackets[len(s.brackets)-1], nil, &out)
			continue
		}
		t := s.trial(e.Trial)
		switch e.Kind {
		case sdk.ResultReported:
			s.result(e, t, &out)
		case sdk.TrialPaused:
			s.paused(e.Trial, t, &out)
		case sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved:
			t.phase = "ended"
			s.halve(t.of, nil, &out)
		}
	}
	return out, nil
}

func (s *oracle) trial(number uint32) *state {
	t := s.trials[number]
	if t != nil {
		return t
	}
	n := len(s.brackets)
	if n == 0 || s.full(s.brackets[n-1]) {
		s.brackets = append(s.brackets, &group{Plan: s.plans[n%len(s.plans)]})
	}
	b := s.brackets[len(s.brackets)-1]
	b.joined++
	b.racing = append(b.racing, number)
	s.trials[number] = &state{of: b}
	return s.trials[number]
}

// full reports that no other trial joins the bracket.
func (s *oracle) full(b *group) bool { return b.stage > 0 || b.joined == int(b.Trials) }

func (s *oracle) result(e sdk.Event, t *state, out *sdk.Decisions) {
	most, d := t.of.At[len(t.of.At)-1], sdk.Decision{Event: e.Number}
	switch {
	case t.phase == "stopping":
		d.Verdict = sdk.Stop
	case t.phase != "":
		return
	case e.Iteration >= most:
		d.Verdict, t.phase = sdk.Stop, "ended"
		out.Decisions = append(out.Decisions, d)
		s.halve(t.of, nil, out)
		return
	case e.Iteration >= t.of.At[t.of.stage]:
		t.arrived, t.loss, t.asked = true, e.Losses[0], false
		d.Verdict, t.phase = sdk.Pause, "pausing"
		if s.halve(t.of, &e, out) {
			return
		}
	case t.asked:
		return
	default:
		d.Until, t.asked = t.of.At[t.of.stage], true
	}
	out.Decisions = append(out.Decisions, d)
}

// halve lets the best of a bracket continue when all its trials have arrived or ended.
func (s *oracle) halve(b *group, e *sdk.Event, out *sdk.Decisions) bool {
	arrivals := 0
	var here []uint32
	for _, number := range b.racing {
		switch t := s.trials[number]; {
		case t.arrived:
			arrivals++
			if t.phase != "ended" {
				here = append(here, number)
			}
		case t.phase != "ended":
			return false
		}
	}
	gathered := s.over || s.planned > 0 && len(s.trials) >= s.planned
	if arrivals == 0 || !s.full(b) && !gathered {
		return false
	}
	slices.SortFunc(here, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(s.trials[x].loss, s.trials[y].loss), cmp.Compare(x, y))
	})
	keep := 0
	for keep*s.factor < len(b.racing) && keep < len(here) && !math.IsInf(s.trials[here[keep]].loss, 1) {
		keep++
	}
	b.stage++
	b.racing = slices.Clone(here[:keep])
	for i, number := range here {
		s.judge(number, i < keep, e, out)
	}
	return true
}

func (s *oracle) judge(number uint32, wins bool, e *sdk.Event, out *sdk.Decisions) {
	t := s.trials[number]
	t.arrived = false
	own := e != nil && e.Trial == number
	switch {
	case own && wins:
		t.phase, t.asked = "", true
		out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Until: t.of.At[t.of.stage]})
	case own:
		t.phase = "ended"
		out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Stop})
	case t.phase == "pausing" && wins:
		t.phase = "waking"
	case t.phase == "pausing":
		t.phase = "stopping"
	case wins:
		t.phase = ""
		out.Commands = append(out.Commands, sdk.Command{Kind: sdk.Resume, Trial: number})
	default:
		t.phase = "ended"
		out.Commands = append(out.Commands, sdk.Command{Kind: sdk.StopTrial, Trial: number})
	}
}

func (s *oracle) paused(number uint32, t *state, out *sdk.Decisions) {
	switch t.phase {
	case "pausing":
		t.phase = "paused"
	case "waking":
		t.phase = ""
		out.Commands = append(out.Commands, sdk.Command{Kind: sdk.Resume, Trial: number})
	case "stopping":
		t.phase = "ended"
		out.Commands = append(out.Commands, sdk.Command{Kind: sdk.StopTrial, Trial: number})
	}
}

func drawPlans(t *rapid.T) (plans []halving.Plan, factor uint64) {
	most := rapid.Uint64Range(1, 20).Draw(t, "max")
	factor = rapid.Uint64Range(2, 4).Draw(t, "factor")
	for range rapid.IntRange(1, 3).Draw(t, "brackets") {
		halvings := 0
		for p := factor; p <= most && rapid.Bool().Draw(t, "halve"); p *= factor {
			halvings++
		}
		plans = append(plans, halving.Plan{Trials: rapid.Uint64Range(1, 9).Draw(t, "size"),
			At: halving.Milestones(most, factor, halvings)})
	}
	return plans, factor
}

func drawSim(t *rapid.T) schedtest.Sim {
	losses := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 3, 4, 5, 6, math.Inf(1)}), 97, 97).Draw(t, "losses")
	fails := rapid.SliceOfN(rapid.IntRange(0, 19), 53, 53).Draw(t, "fails")
	picks, drawn := rapid.SliceOfN(rapid.IntRange(0, 1000), 31, 31).Draw(t, "picks"), 0
	return schedtest.Sim{
		Trials:     rapid.IntRange(1, 40).Draw(t, "trials"),
		Workers:    rapid.IntRange(1, 6).Draw(t, "workers"),
		Length:     rapid.Uint64Range(1, 25).Draw(t, "length"),
		Burst:      rapid.IntRange(1, 4).Draw(t, "burst"),
		Loss:       func(trial uint32, iteration uint64) float64 { return losses[(uint64(trial)*31+iteration*7)%97] },
		Fails:      func(trial uint32, iteration uint64) bool { return fails[(uint64(trial)*29+iteration)%53] == 0 },
		Step:       func(trial uint32) uint64 { return 1 + uint64(fails[trial%53])%3 },
		Pick:       func(n int) int { drawn++; return picks[drawn%31] % n },
		SearchEnds: rapid.Bool().Draw(t, "search ends"),
	}
}

// hyperband and bohb have these brackets, with different sizes.
func TestAgainstLookingThroughAll(t *testing.T) {
	resumed := 0
	rapid.Check(t, func(t *rapid.T) {
		plans, factor := drawPlans(t)
		sim := drawSim(t)
		p := schedtest.Problem(sim.Trials)
		if sim.SearchEnds {
			p.Trials = 0
		}
		compared, err := objective.Choose(p, "")
		if err != nil {
			t.Fatal(err)
		}
		h, err := sim.Run(halving.New(p, compared, plans, factor))
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Ends) != sim.Trials {
			t.Fatalf("%d of %d trials ended", len(h.Ends), sim.Trials)
		}
		slow := &oracle{plans: plans, factor: int(factor), planned: p.Trials, trials: map[uint32]*state{}}
		if err := schedtest.Cuts(slow, h.WithoutReasons(), sim.Pick); err != nil {
			t.Fatal(err)
		}
		for _, c := range h.Out.Commands {
			if c.Kind == sdk.Resume {
				resumed++
			}
		}
	})
	if resumed == 0 {
		t.Error("no trial continued")
	}
}
