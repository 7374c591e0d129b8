package view

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
)

// Result is one report of a trial.
type Result struct {
	Trial     core.TrialNo
	Attempt   uint32
	Iteration uint64
	Time      time.Time
	// Seconds is the trial's training time so far.
	Seconds float64
	Metrics []Metric
	// Params is the JSON object of the parameters that it was measured with.
	Params []byte
	// Last says that the trial ended with this result.
	Last bool
}

// resultJSON is the shape that `results --json` promises.
type resultJSON struct {
	Number    core.TrialNo     `json:"number"`
	Attempt   uint32           `json:"attempt"`
	Iteration uint64           `json:"iteration"`
	Time      *time.Time       `json:"time"`
	Metrics   map[string]Float `json:"metrics"`
	Done      bool             `json:"done"`
	Seconds   Float            `json:"time_total_s"`
}

// MarshalJSON writes the line of `results --json`. Fields are named as in a line of `run --json` for
// the same result; they are added, never renamed.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(resultJSON{Number: r.Trial, Attempt: r.Attempt, Iteration: r.Iteration,
		Time: timeOrNull(r.Time), Metrics: metricsJSON(r.Metrics), Done: r.Last, Seconds: Float(r.Seconds)})
}

// Metric returns the value of one of its metrics.
func (r *Result) Metric(name string) (float64, bool) { return metricOf(r.Metrics, name) }

// Results returns all results of one trial, in order. If a restarted trial reported iterations again,
// the later report counts (B-061).
func (e *Experiment) Results(no core.TrialNo) (all []Result, err error) {
	return all, e.recall(func(s *State, p *Past) error {
		all = s.results(p, no)
		return nil
	})
}

// results returns the results of a trial as they are kept in the past.
func (s *State) results(p *Past, no core.TrialNo) []Result {
	all := make([]Result, 0, p.Count(no))
	for x := range p.Each(no) {
		r := Result{Trial: no, Attempt: x.Attempt, Iteration: x.Iteration, Time: s.wallBy(x.Host, x.At),
			Seconds: float64(x.Spent) / 1e9, Params: x.Params, Last: x.Last}
		if r.Params == nil {
			r.Params = s.Machine.FirstParams(no)
		}
		for i, id := range x.Metrics {
			r.Metrics = append(r.Metrics, Metric{s.Machine.MetricName(id), x.Values[i]})
		}
		slices.SortStableFunc(r.Metrics, byName)
		all = append(all, r)
	}
	return all
}

// AllResults returns those of the wanted trials.
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

// upTo removes the results after an iteration, from an attempt on.
func upTo(list []Result, since uint32, iteration uint64) []Result {
	for len(list) > 0 && list[len(list)-1].Attempt >= since && list[len(list)-1].Iteration > iteration {
		list = list[:len(list)-1]
	}
	return list
}
