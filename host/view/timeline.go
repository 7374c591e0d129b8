package view

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view/course"
)

// TimelineQuery says which trials are wanted.
type TimelineQuery struct {
	// Offset is how many trials are skipped, Limit how many are returned at most.
	Offset, Limit int
	// Spread: where there are more than Limit, the returned trials are evenly spread over all, instead of the first.
	Spread bool
	// From and To restrict the trials to those that did anything but waiting in these seconds of running
	// time; To 0: until now.
	From, To float64
}

// Timeline says when trials ran, and where.
type Timeline struct {
	// Total is how many trials there are, without Offset and Limit.
	Total int `json:"total"`
	// Now is the running time of the experiment.
	Now    Float        `json:"now_s"`
	Trials []TrialTimes `json:"trials"`
	// Lanes are the places of all trials, not only of the returned ones.
	Lanes []Lane `json:"lanes"`
	// SavesLeftOut says that later saves of checkpoints are not shown, because there are very many.
	SavesLeftOut bool `json:"saves_left_out,omitempty"`
}

// Lane is a place where one trial runs at a time.
type Lane struct {
	Node    string   `json:"node"`
	Slot    int      `json:"slot"`
	Devices []string `json:"devices,omitempty"`
}

// TrialTimes are the segments of one trial.
type TrialTimes struct {
	Number core.TrialNo `json:"number"`
	Trial  string       `json:"trial"`
	State  string       `json:"state"`
	// WasRunning says that it ran when its host ended, and that no host runs it now.
	WasRunning bool      `json:"was_running,omitempty"`
	Segments   []Segment `json:"segments"`
}

// Segment is a part of a trial's time.
type Segment struct {
	// State is queued, running, paused or saving.
	State string `json:"state"`
	From  Float  `json:"from_s"`
	To    Float  `json:"to_s"`
	// Lane is an index of the lanes; null unless the trial runs.
	Lane    *uint32 `json:"lane"`
	Node    string  `json:"node,omitempty"`
	Slot    *int    `json:"slot,omitempty"`
	Attempt uint32  `json:"attempt,omitempty"`
}

var phases = map[course.Phase]string{course.Queued: "queued", course.Running: "running", course.Paused: "paused",
	course.Saving: "saving"}

// Timeline returns when trials ran, and where.
func (e *Experiment) Timeline(q TimelineQuery) (x Timeline, err error) {
	for name, v := range map[string]float64{"from_s": q.From, "to_s": q.To} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return x, fmt.Errorf("%s is %g; expected a number of seconds", name, v)
		}
	}
	if q.To != 0 && q.To < q.From {
		return x, fmt.Errorf("to_s is %s, before from_s, %s", digits(q.To), digits(q.From))
	}
	return x, e.recall(func(s *State, p *Past) error {
		x = Timeline{Now: Float(float64(s.Machine.Now()) / 1e9), Trials: []TrialTimes{}, Lanes: []Lane{},
			SavesLeftOut: p.SavesLeftOut()}
		for _, l := range p.Lanes() {
			x.Lanes = append(x.Lanes, Lane(l))
		}
		var all []core.TrialNo
		for no := range core.TrialNo(s.Machine.Trials()) {
			if q.takes(p.Segments(no), s.Machine.Now()) {
				all = append(all, no)
			}
		}
		x.Total = len(all)
		for _, no := range q.chosen(all) {
			x.Trials = append(x.Trials, s.times(p, no))
		}
		return nil
	})
}

// chosen returns the trials of a list that are returned.
func (q *TimelineQuery) chosen(all []core.TrialNo) (list []core.TrialNo) {
	all = all[min(q.Offset, len(all)):]
	n := min(q.Limit, len(all))
	if !q.Spread {
		return all[:n]
	}
	for i := range n {
		list = append(list, all[i*len(all)/n])
	}
	return list
}

// takes reports whether a trial did something in the wanted time.
func (q *TimelineQuery) takes(list []course.Segment, now int64) bool {
	if q.From <= 0 && q.To <= 0 {
		return true
	}
	to := q.To * 1e9
	if q.To == 0 {
		to = float64(now)
	}
	return slices.ContainsFunc(ended(list, now), func(x times) bool {
		return x.Phase != course.Queued && float64(x.From) <= to && float64(x.to) >= q.From*1e9
	})
}

// times is a segment with its end.
type times struct {
	course.Segment
	to int64
}

// ended returns segments with their ends.
func ended(list []course.Segment, now int64) (out []times) {
	for i, x := range list {
		to := now
		if i+1 < len(list) {
			to = list[i+1].From
		}
		if x.Phase != course.Ended {
			out = append(out, times{x, to})
		}
	}
	return out
}

func (s *State) times(p *Past, no core.TrialNo) TrialTimes {
	state := s.Machine.State(no)
	t := TrialTimes{Number: no, Trial: s.id(no), State: state.String(), WasRunning: s.wasRunning(state),
		Segments: []Segment{}}
	for _, x := range ended(p.Segments(no), s.Machine.Now()) {
		segment := Segment{State: phases[x.Phase], From: Float(float64(x.From) / 1e9), To: Float(float64(x.to) / 1e9)}
		if x.Phase == course.Running || x.Phase == course.Saving {
			lane := p.Lanes()[x.Lane]
			segment.Lane, segment.Node, segment.Slot, segment.Attempt = &x.Lane, lane.Node, &lane.Slot, x.Attempt
		}
		t.Segments = append(t.Segments, segment)
	}
	return t
}
