package pasha

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-010, B-015
func TestStories(t *testing.T) { schedtest.Stories(t, Plugin, &space.Space{}, "testdata") }

func TestChaos(t *testing.T) {
	schedtest.Chaos(t, Plugin, schedtest.Problem(5), `{"max": 9}`)
	schedtest.Chaos(t, Plugin, schedtest.Problem(0), `{"max": 12, "grace": 2, "reduction_factor": 2, "epsilon": 1}`)
}

func drawOptions(t *rapid.T) options {
	o := options{
		Max:     uint64(rapid.IntRange(1, 40).Draw(t, "max")),
		Factor:  uint64(rapid.IntRange(2, 4).Draw(t, "factor")),
		Epsilon: rapid.SampledFrom([]float64{0, 0.5, 2, 5}).Draw(t, "epsilon"),
	}
	o.Grace = uint64(rapid.IntRange(1, min(4, int(o.Max))).Draw(t, "grace"))
	return o
}

func drawSim(t *rapid.T, o options) schedtest.Sim {
	starts := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 3, 5, 8, 13, math.Inf(1)}), 37, 37).Draw(t, "starts")
	drifts := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, 0, 0.1, -0.2, 0.5}), 41, 41).Draw(t, "drifts")
	steps := rapid.SliceOfN(rapid.SampledFrom([]uint64{1, 1, 1, 1, 1, 2, 3}), 13, 13).Draw(t, "steps")
	fails := rapid.SliceOfN(rapid.IntRange(0, 29), 53, 53).Draw(t, "fails")
	picks, drawn := rapid.SliceOfN(rapid.IntRange(0, 1000), 31, 31).Draw(t, "picks"), 0
	return schedtest.Sim{
		Trials:  rapid.IntRange(1, 40).Draw(t, "trials"),
		Workers: rapid.IntRange(1, 6).Draw(t, "workers"),
		Length:  o.Max + uint64(rapid.IntRange(-1, 3).Draw(t, "longer")),
		Burst:   rapid.IntRange(1, 4).Draw(t, "burst"),
		Loss: func(trial uint32, iteration uint64) float64 {
			return starts[trial%37] + drifts[trial%41]*float64(iteration)
		},
		Fails: func(trial uint32, iteration uint64) bool { return fails[(uint64(trial)*29+iteration)%53] == 0 },
		Step:  func(trial uint32) uint64 { return steps[trial%13] },
		Pick:  func(n int) int { drawn++; return picks[drawn%31] % n },
	}
}

func (o options) open(t *rapid.T, trials int) sdk.Scheduler {
	s, _, err := Plugin.Open(schedtest.Problem(trials), declared.JSON(o))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// It decides like the oracle, in any batches; every trial ends; and some rungs open while others
// stay closed.
func TestAgainstSorting(t *testing.T) {
	opened, closed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		sim := drawSim(t, o)
		planned := sim.Trials
		if sim.SearchEnds = rapid.Bool().Draw(t, "search ends"); sim.SearchEnds {
			planned = 0
		}
		h, err := sim.Run(o.open(t, planned))
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Ends) != sim.Trials {
			t.Fatalf("%d of %d trials ended", len(h.Ends), sim.Trials)
		}
		if err := schedtest.Cuts(o.open(t, planned), h, sim.Pick); err != nil {
			t.Fatal(err)
		}
		slow := newOracle(o, planned)
		if err := schedtest.Cuts(slow, h.WithoutReasons(), sim.Pick); err != nil {
			t.Fatal(err)
		}
		if slow.open > 1 {
			opened++
		} else {
			closed++
		}
	})
	if opened == 0 || closed == 0 {
		t.Errorf("rungs were opened in %d runs and stayed closed in %d", opened, closed)
	}
}

// oracle is a second implementation of pasha that only sorts.
type oracle struct {
	o       options
	planned int
	at      []uint64
	open    int // index of the highest open rung
	ended   bool
	trials  map[uint32]*state
	arrived [][]uint32 // at each rung, in order
	pauses  []uint32
}

type state struct {
	had   map[int]float64 // loss at each rung
	phase string          // "", pausing, paused, waking, stopping, ended
	asked bool
	moved map[int]bool // was among the best of the rung
}

func newOracle(o options, planned int) *oracle {
	s := &oracle{o: o, planned: planned, open: 1, trials: map[uint32]*state{}}
	for r := o.Grace; r <= o.Max; r *= o.Factor {
		s.at, s.arrived = append(s.at, r), append(s.arrived, nil)
	}
	return s
}

func (s *oracle) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, _ error) {
	for _, e := range events {
		t := s.trials[e.Trial]
		if t == nil && e.Kind != sdk.SearchEnded {
			t = &state{had: map[int]float64{}, moved: map[int]bool{}}
			s.trials[e.Trial] = t
		}
		switch e.Kind {
		case sdk.SearchEnded:
			s.ended = true
		case sdk.ResultReported:
			s.result(e, t, &out)
		case sdk.TrialPaused:
			s.paused(e.Trial, t, &out)
		case sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved:
			t.phase = "ended"
		}
		s.finish(&out)
	}
	return out, nil
}

func (s *oracle) result(e sdk.Event, t *state, out *sdk.Decisions) {
	d := sdk.Decision{Event: e.Number}
	switch t.phase {
	case "stopping":
		d.Verdict = sdk.Stop
		out.Decisions = append(out.Decisions, d)
		return
	case "":
	default:
		return
	}
	k, goes := s.highest(e.Iteration, t), false
	if k >= 0 {
		t.had[k] = e.Losses[0]
		s.arrived[k] = append(s.arrived[k], e.Trial)
		goes = s.move(k, e.Trial, out)
	}
	switch {
	case e.Iteration >= s.o.Max, k >= 0 && math.IsInf(e.Losses[0], 1):
		d.Verdict, t.phase = sdk.Stop, "ended"
	case k >= 0 && !goes:
		d.Verdict, t.phase, t.asked = sdk.Pause, "pausing", false
		s.pauses = append(s.pauses, e.Trial)
	case k >= 0 || !t.asked:
		d.Until, t.asked = s.until(t), true
	default:
		return
	}
	out.Decisions = append(out.Decisions, d)
}

// last returns the highest rung at which the trial was recorded, or -1.
func (t *state) last() int {
	last := -1
	for k := range t.had {
		last = max(last, k)
	}
	return last
}

func (s *oracle) highest(iteration uint64, t *state) int {
	for k := min(s.open, len(s.at)-1); k > t.last(); k-- {
		if s.at[k] <= iteration {
			return k
		}
	}
	return -1
}

func (s *oracle) until(t *state) uint64 {
	if k := t.last() + 1; k < len(s.at) {
		return s.at[k]
	}
	return s.o.Max
}

// move lets trials continue that may, after an arrival at rung k.
func (s *oracle) move(k int, arrived uint32, out *sdk.Decisions) bool {
	if k == s.open {
		if !s.changed(k) {
			return false
		}
		s.open++
	}
	best := s.sorted(k, k)[:len(s.arrived[k])/int(s.o.Factor)]
	for _, trial := range best {
		t := s.trials[trial]
		if trial != arrived && !t.moved[k] && t.last() == k {
			s.wake(trial, t, out)
		}
		t.moved[k] = true
	}
	return slices.Contains(best, arrived)
}

// sorted returns the trials at rung k ordered by their losses at rung by.
func (s *oracle) sorted(k, by int) []uint32 {
	all := slices.Clone(s.arrived[k])
	slices.SortStableFunc(all, func(a, b uint32) int { return cmp.Compare(s.trials[a].had[by], s.trials[b].had[by]) })
	return all
}

func (s *oracle) changed(k int) bool {
	finite := func(trial uint32) bool { return math.IsInf(s.trials[trial].had[k], 1) }
	now := slices.DeleteFunc(s.sorted(k, k), finite)
	for _, trial := range now {
		if _, known := s.trials[trial].had[k-1]; !known {
			return true
		}
	}
	before := slices.DeleteFunc(s.sorted(k, k-1), finite)
	below := func(trial uint32) float64 { return s.trials[trial].had[k-1] }
	epsilon := s.o.Epsilon
	if epsilon == 0 && len(before) > 1 {
		var gaps []float64
		for i := range before[1:] {
			gaps = append(gaps, below(before[i+1])-below(before[i]))
		}
		slices.Sort(gaps)
		epsilon = gaps[len(gaps)/2]
	}
	for i := range now {
		if math.Abs(below(now[i])-below(before[i])) > epsilon {
			return true
		}
	}
	return false
}

func (s *oracle) wake(trial uint32, t *state, out *sdk.Decisions) {
	switch t.phase {
	case "paused":
		t.phase = ""
		out.Commands = append(out.Commands, sdk.Command{Kind: sdk.Resume, Trial: trial})
	case "pausing":
		t.phase = "waking"
	}
}

func (s *oracle) paused(trial uint32, t *state, out *sdk.Decisions) {
	switch t.phase {
	case "pausing":
		t.phase = "paused"
	case "waking":
		t.phase = ""
		out.Commands = append(out.Commands, sdk.Command{Kind: sdk.Resume, Trial: trial})
	case "stopping":
		t.phase = "ended"
		out.Commands = append(out.Commands, sdk.Command{Kind: sdk.StopTrial, Trial: trial})
	}
}

// finish stops the remaining trials when none is active.
func (s *oracle) finish(out *sdk.Decisions) {
	if !s.ended && (s.planned == 0 || len(s.trials) < s.planned) {
		return
	}
	for _, t := range s.trials {
		if t.phase == "" || t.phase == "waking" {
			return
		}
	}
	for _, trial := range s.pauses {
		switch t := s.trials[trial]; t.phase {
		case "paused":
			t.phase = "ended"
			out.Commands = append(out.Commands, sdk.Command{Kind: sdk.StopTrial, Trial: trial})
		case "pausing":
			t.phase = "stopping"
		}
	}
}
