package asha

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// oracle is a slow second implementation of asha that only sorts: one bracket, no reasons.
type oracle struct {
	at      []uint64
	max     uint64
	factor  int
	promote bool
	planned int
	known   map[uint32]bool
	rungs   map[uint64][]recorded
	passed  map[uint32]uint64 // highest rung that a trial is recorded at
	asked   map[uint32]bool
	state   map[uint32]string // "", pausing, paused, waking, stopping, ended
	moved   map[uint64]map[uint32]bool
	pauses  []uint32
}

type recorded struct {
	loss  float64
	trial uint32
}

func newOracle(o options, planned int) *oracle {
	s := &oracle{
		max: o.Max, factor: int(o.Factor), promote: o.Type == promotion, planned: planned,
		known: map[uint32]bool{}, rungs: map[uint64][]recorded{}, passed: map[uint32]uint64{},
		asked: map[uint32]bool{}, state: map[uint32]string{}, moved: map[uint64]map[uint32]bool{},
	}
	for r := o.Grace; r <= o.Max; r *= o.Factor {
		s.at = append(s.at, r)
		s.moved[r] = map[uint32]bool{}
	}
	return s
}

func (s *oracle) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, _ error) {
	for _, e := range events {
		if e.Kind != sdk.SearchEnded {
			s.known[e.Trial] = true
		}
		switch e.Kind {
		case sdk.ResultReported:
			s.result(e, &out)
		case sdk.TrialPaused:
			s.paused(e.Trial, &out)
		case sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved:
			s.state[e.Trial] = "ended"
		}
		s.finish(&out)
	}
	return out, nil
}

func (s *oracle) result(e sdk.Event, out *sdk.Decisions) {
	d := sdk.Decision{Event: e.Number}
	switch s.state[e.Trial] {
	case "stopping":
		d.Verdict = sdk.Stop
		out.Decisions = append(out.Decisions, d)
		return
	case "":
	default:
		return
	}
	r := s.due(e)
	best := r > 0 && s.record(r, e, out)
	switch {
	case e.Iteration >= s.max, r > 0 && math.IsInf(e.Losses[0], 1), r > 0 && !best && !s.promote:
		d.Verdict, s.state[e.Trial] = sdk.Stop, "ended"
	case r > 0 && !best:
		d.Verdict, s.state[e.Trial], s.asked[e.Trial] = sdk.Pause, "pausing", false
		s.pauses = append(s.pauses, e.Trial)
	case r > 0 || !s.asked[e.Trial]:
		d.Until, s.asked[e.Trial] = s.next(e.Trial), true
	default:
		return
	}
	out.Decisions = append(out.Decisions, d)
}

func (s *oracle) due(e sdk.Event) uint64 {
	for _, r := range slices.Backward(s.at) {
		if r <= e.Iteration {
			if r > s.passed[e.Trial] {
				return r
			}
			return 0
		}
	}
	return 0
}

func (s *oracle) next(trial uint32) uint64 {
	for _, r := range s.at {
		if r > s.passed[trial] {
			return r
		}
	}
	return s.max
}

func (s *oracle) record(r uint64, e sdk.Event, out *sdk.Decisions) bool {
	s.passed[e.Trial] = r
	s.rungs[r] = append(s.rungs[r], recorded{e.Losses[0], e.Trial})
	all := slices.Clone(s.rungs[r])
	slices.SortStableFunc(all, func(a, b recorded) int { return cmp.Compare(a.loss, b.loss) })
	if !s.promote {
		return e.Losses[0] <= all[max(1, len(all)/s.factor)-1].loss
	}
	for _, x := range all[:len(all)/s.factor] {
		if x.trial != e.Trial && !s.moved[r][x.trial] && s.passed[x.trial] == r {
			s.wake(x.trial, out)
		}
		s.moved[r][x.trial] = true
	}
	return s.moved[r][e.Trial]
}

func (s *oracle) wake(trial uint32, out *sdk.Decisions) {
	switch s.state[trial] {
	case "paused":
		s.state[trial] = ""
		out.Commands = append(out.Commands, sdk.Command{Kind: sdk.Resume, Trial: trial})
	case "pausing":
		s.state[trial] = "waking"
	}
}

func (s *oracle) paused(trial uint32, out *sdk.Decisions) {
	switch s.state[trial] {
	case "pausing":
		s.state[trial] = "paused"
	case "waking":
		s.state[trial] = ""
		out.Commands = append(out.Commands, sdk.Command{Kind: sdk.Resume, Trial: trial})
	case "stopping":
		s.state[trial] = "ended"
		out.Commands = append(out.Commands, sdk.Command{Kind: sdk.StopTrial, Trial: trial})
	}
}

// finish stops the remaining trials when none is active.
func (s *oracle) finish(out *sdk.Decisions) {
	if len(s.known) < s.planned {
		return
	}
	for trial := range s.known {
		if x := s.state[trial]; x == "" || x == "waking" {
			return
		}
	}
	for _, trial := range s.pauses {
		switch s.state[trial] {
		case "paused":
			s.state[trial] = "ended"
			out.Commands = append(out.Commands, sdk.Command{Kind: sdk.StopTrial, Trial: trial})
		case "pausing":
			s.state[trial] = "stopping"
		}
	}
}
