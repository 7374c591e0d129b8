package view

import (
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/view/course"
)

// Improving is how the best value so far developed from trial to trial.
type Improving struct {
	Metric string `json:"metric"`
	Mode   string `json:"mode"`
	// Total is how many trials have a value; if Steps has fewer, all that were better than those before are among them,
	// as far as there is room.
	Total int           `json:"total"`
	Steps []ImprovingAt `json:"steps"`
	// Rerun is how many trials were run again after they had ended: the last end of each counts.
	Rerun int `json:"rerun,omitempty"`
	// Best are the trial, or the runs of the suggestion, with the last of the best values.
	Best []core.TrialNo `json:"best"`
}

// ImprovingAt is the value of one trial, in the order in which trials ended; those that have not ended come last.
type ImprovingAt struct {
	Trial  string       `json:"trial"`
	Number core.TrialNo `json:"number"`
	// Value is the trial's own, Best the best so far.
	Value Float `json:"value"`
	Best  Float `json:"best"`
	// Seconds is how long the experiment had run, Ended how many trials had ended for the last time.
	Seconds Float `json:"at_s"`
	Ended   int   `json:"trials_ended"`
	// Running says that the trial has not ended: its value may change. State says whether it runs, waits or is paused,
	// or how it has ended; WasRunning, that it ran when its host ended, and that no host runs it now.
	Running    bool   `json:"running,omitempty"`
	State      string `json:"state"`
	WasRunning bool   `json:"was_running,omitempty"`
}

// Improving returns the value of each trial, and the best so far, thinned to so many points; 0: all. The last
// best value is that of Best.
func (e *Experiment) Improving(q Query, points int) (x Improving, err error) {
	if points == 1 {
		return x, errOnePoint
	}
	return x, e.recall(func(s *State, p *Past) error {
		o, err := s.objective(q)
		if err != nil {
			return err
		}
		if q.Scope == "" {
			q.Scope = Last
		}
		ends, rerun := s.lastEnds(p)
		steps := s.improving(ends, o, q.Scope)
		x = Improving{Metric: o.Metric, Mode: o.Mode.String(), Total: len(steps), Steps: thinnedSteps(steps, points),
			Rerun: rerun, Best: s.bestRuns(o, q.Scope)}
		for i := range x.Steps {
			x.Steps[i].Trial = s.id(x.Steps[i].Number)
		}
		return nil
	})
}

// improving returns all steps, without the trials' ids: most are thinned out.
func (s *State) improving(ends []course.End, o core.Objective, scope Scope) []ImprovingAt {
	values := s.values(o, scope)
	steps := make([]ImprovingAt, 0, len(ends))
	for _, end := range ends {
		first, _ := s.Machine.Runs(end.Trial)
		v, ok := values(first)
		if !ok || !finite(v) {
			continue
		}
		state := s.Machine.State(end.Trial)
		step := ImprovingAt{Number: first, Value: Float(v), Best: Float(v), Seconds: Float(float64(end.At) / 1e9),
			Ended: end.Ended, Running: !state.Final(), State: state.String(), WasRunning: s.wasRunning(state)}
		if n := len(steps); n > 0 && !stat.Better(v, float64(steps[n-1].Best), o.Mode) {
			step.Best = steps[n-1].Best
		}
		steps = append(steps, step)
	}
	return steps
}

// lastEnds returns the last end of each suggestion, in order, and then the trials that have not ended, as of now. rerun
// is how many trials have ended several times.
func (s *State) lastEnds(p *Past) (list []course.End, rerun int) {
	m := s.Machine
	_, runs := m.Runs(0)
	list, rerun = finalEnds(m, p.Ends())
	if runs > 1 {
		return lastOfEach(m, list), rerun
	}
	ended := len(list)
	for no := range core.TrialNo(m.Trials()) {
		if !m.State(no).Final() {
			list = append(list, course.End{At: m.Now(), Trial: no, Ended: ended})
		}
	}
	return list, rerun
}

// finalEnds returns the last end of each trial that has ended, in order, each with how many there are up to it.
func finalEnds(m *core.Machine, all []course.End) (list []course.End, rerun int) {
	ends := make([]int, m.Trials())
	list = make([]course.End, 0, m.Trials())
	for _, end := range slices.Backward(all) {
		if ends[end.Trial]++; ends[end.Trial] == 1 && m.State(end.Trial).Final() {
			list = append(list, end)
		}
		if ends[end.Trial] == 2 {
			rerun++
		}
	}
	slices.Reverse(list)
	for i := range list {
		list[i].Ended = i + 1
	}
	return list, rerun
}

// lastOfEach returns the last end of each suggestion.
func lastOfEach(m *core.Machine, ends []course.End) []course.End {
	seen := make([]bool, m.Trials())
	var list []course.End
	for _, end := range slices.Backward(ends) {
		if first, _ := m.Runs(end.Trial); !seen[first] {
			seen[first] = true
			list = append(list, end)
		}
	}
	slices.Reverse(list)
	return list
}

// thinnedSteps keeps at most so many steps: the extremes of the values, and improvements.
func thinnedSteps(steps []ImprovingAt, points int) []ImprovingAt {
	if points < 2 || len(steps) <= points {
		return steps
	}
	var better []int
	for i := range steps {
		if i == 0 || steps[i].Best != steps[i-1].Best {
			better = append(better, i)
		}
	}
	value := func(i int) (float64, bool) { return float64(steps[i].Value), true }
	half := points / 2
	some := thinned(len(better), half, func(i int) (float64, bool) { return value(better[i]) })
	keep := thinned(len(steps), points-len(some), value)
	for _, i := range some {
		keep = append(keep, better[i])
	}
	slices.Sort(keep)
	out := make([]ImprovingAt, 0, points)
	for _, i := range slices.Compact(keep) {
		out = append(out, steps[i])
	}
	return out
}
