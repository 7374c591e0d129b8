package view

import (
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
)

// Result is one report of a trial.
type Result struct {
	Trial     core.TrialNo
	Attempt   uint32
	Iteration uint64
	Time      time.Time
	// Seconds is the trial's training time up to it.
	Seconds float64
	Metrics []Metric
	// Params is the JSON object of the parameters that it was measured with.
	Params []byte
	// Last: it is the one that the trial ended with.
	Last bool
}

// Results are all results of one trial, in order. Where a restarted trial
// reported iterations again, the later report counts (B-061).
func (e *Experiment) Results(no core.TrialNo) ([]Result, error) {
	all, err := e.AllResults(func(n core.TrialNo) bool { return n == no })
	return all[no], err
}

// AllResults are those of the trials that are wanted.
func (e *Experiment) AllResults(wanted func(core.TrialNo) bool) (map[core.TrialNo][]Result, error) {
	all := map[core.TrialNo][]Result{}
	return all, e.Replay(func(m Moment) error {
		no := m.Trial
		switch {
		case m.Kind == core.SawStarted && wanted(no):
			v := m.Machine.View(no)
			all[no] = upTo(all[no], v.Since, v.At)
		case m.Kind == core.SawResult && wanted(no):
			all[no] = append(upTo(all[no], m.Machine.View(no).Since, m.Iteration-1), Result{Params: m.Machine.Params(no), Trial: no, Attempt: m.Attempt, Iteration: m.Iteration, Time: m.Time,
				Seconds: float64(m.Machine.View(no).TrainNS) / 1e9, Metrics: named(m.Machine, m.Metrics), Last: m.Last})
		}
		return nil
	})
}

// upTo cuts off what came after an iteration, from an attempt on.
func upTo(list []Result, since uint32, iteration uint64) []Result {
	for len(list) > 0 && list[len(list)-1].Attempt >= since && list[len(list)-1].Iteration > iteration {
		list = list[:len(list)-1]
	}
	return list
}

// Moment is something that the machine saw, with the machine as it was right
// after.
type Moment struct {
	core.Observation
	Time    time.Time
	Machine *core.Machine
}

// Replay runs the record through a new machine from the beginning and tells f
// all that reporters heard, in order. Metrics in a moment are f's to keep.
func (e *Experiment) Replay(f func(Moment) error) error {
	return e.through(func(h *history.History, s *history.Step) error {
		for o := range s.Observations(core.ToAll) {
			if err := f(Moment{o, wall(h, s.Machine.Now()), s.Machine}); err != nil {
				return err
			}
		}
		return nil
	})
}
