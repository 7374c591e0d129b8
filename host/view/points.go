package view

import (
	"encoding/json"

	"github.com/tunehost/tunehost/core"
)

// Points are trials in columns: plots of many trials read them faster than the trials one by one.
type Points struct {
	// Total is how many trials there are; if there are fewer in Numbers, the best are among them.
	Total   int            `json:"total"`
	Numbers []core.TrialNo `json:"numbers"`
	States  []string       `json:"states"`
	// WasRunning says that no host runs the experiment: what is RUNNING ran when its host ended.
	WasRunning bool `json:"was_running,omitempty"`
	// Params has a column for each parameter; null where the trial does not have it. Members of nested parameters
	// have their path as their name, with dots.
	Params map[string][]json.RawMessage `json:"params"`
	// Metrics are those of the last results; null if there is none.
	Metrics map[string][]*Float `json:"metrics"`
}

// Points returns at most so many trials; 0: all.
func (e *Experiment) Points(most int) (x Points, err error) {
	err = e.source.Look(func(s *State) { x = s.points(most) })
	return x, err
}

func (s *State) points(most int) Points {
	all := make([]core.TrialNo, s.Machine.Trials())
	for i := range all {
		all[i] = core.TrialNo(i)
	}
	o := s.Objectives()[0]
	x := Points{Total: len(all), Numbers: spread(s.bests(all, o), o.Mode, most), States: []string{},
		Params: map[string][]json.RawMessage{}, Metrics: map[string][]*Float{}}
	if x.Numbers == nil {
		x.Numbers = []core.TrialNo{}
	}
	for i, no := range x.Numbers {
		t := s.Brief(no)
		x.States = append(x.States, t.State.String())
		x.WasRunning = x.WasRunning || t.WasRunning
		x.addParams(i, "", t.Params)
		for _, m := range t.Metrics {
			v := Float(m.Value)
			set(x.Metrics, m.Name, i, len(x.Numbers), &v)
		}
	}
	return x
}

// addParams fills in row i; prefix ends with a dot, or is empty.
func (x *Points) addParams(i int, prefix string, params []byte) {
	var members map[string]json.RawMessage
	if json.Unmarshal(params, &members) != nil {
		return
	}
	for name, v := range members {
		if v[0] == '{' {
			x.addParams(i, prefix+name+".", v)
			continue
		}
		set(x.Params, prefix+name, i, len(x.Numbers), v)
	}
}

// set makes the column if it is new.
func set[T any](columns map[string][]T, name string, i, rows int, v T) {
	if columns[name] == nil {
		columns[name] = make([]T, rows)
	}
	columns[name][i] = v
}
