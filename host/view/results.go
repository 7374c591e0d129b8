package view

import (
	"encoding/json"
	"time"

	"github.com/tunehost/tunehost/core"
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

// MarshalJSON writes the line of `results --json`; fields are named as in a line of
// `run --json` for the same result, and added, never renamed.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Number    core.TrialNo     `json:"number"`
		Attempt   uint32           `json:"attempt"`
		Iteration uint64           `json:"iteration"`
		Time      *time.Time       `json:"time"`
		Metrics   map[string]Float `json:"metrics"`
		Done      bool             `json:"done"`
		Seconds   Float            `json:"time_total_s"`
	}{r.Trial, r.Attempt, r.Iteration, timeOrNull(r.Time), metricsJSON(r.Metrics), r.Last, Float(r.Seconds)})
}

// Metric is the value of one of its metrics.
func (r *Result) Metric(name string) (float64, bool) { return metricOf(r.Metrics, name) }

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
			v := m.State.Machine.View(no)
			all[no] = upTo(all[no], v.Since, v.At)
		case m.Kind == core.SawResult && wanted(no):
			all[no] = append(upTo(all[no], m.State.Machine.View(no).Since, m.Iteration-1),
				Result{Params: m.State.Machine.Params(no), Trial: no, Attempt: m.Attempt, Iteration: m.Iteration,
					Time:    m.Time,
					Seconds: float64(m.State.Machine.View(no).TrainNS) / 1e9, Metrics: named(m.State.Machine,
						m.Metrics), Last: m.Last})
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
