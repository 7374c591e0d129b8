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
	// Best are the best trial, or the runs of the best suggestion, as of the values here; none if there are several
	// objectives. A later answer may have another best trial, whose value is not here yet.
	Best []core.TrialNo `json:"best"`
	// WasRunning says that no host runs the experiment: what is RUNNING ran when its host ended.
	WasRunning bool `json:"was_running,omitempty"`
	// Params has a column for each parameter, by the names of [Space]; null where the trial does not have it.
	Params map[string][]json.RawMessage `json:"params"`
	// Metrics are those of the last results; null if there is none.
	Metrics map[string][]*Float `json:"metrics"`
}

// Points returns at most so many trials; 0: all.
func (e *Experiment) Points(most int) (x Points, err error) {
	names := e.parameterNames()
	err = e.source.Look(func(s *State) { x = s.points(most, names) })
	return x, err
}

// parameterNames are the full names of parameters, with parts joined with "/".
func (f *Facts) parameterNames() map[string]bool {
	names := map[string]bool{}
	for i := range f.Config.Space.Params {
		names[f.Config.Space.Params[i].Name] = true
	}
	for _, o := range f.others() {
		names[o.Name] = true
	}
	return names
}

func (s *State) points(most int, names map[string]bool) Points {
	all := make([]core.TrialNo, s.Machine.Trials())
	for i := range all {
		all[i] = core.TrialNo(i)
	}
	o := s.Objectives()[0]
	x := Points{Total: len(all), Numbers: spread(s.bests(all, o), o.Mode, most), States: []string{},
		Best: s.only(), Params: map[string][]json.RawMessage{}, Metrics: map[string][]*Float{}}
	if x.Numbers == nil {
		x.Numbers = []core.TrialNo{}
	}
	for i, no := range x.Numbers {
		t := s.Brief(no)
		x.States = append(x.States, t.State.String())
		x.WasRunning = x.WasRunning || t.WasRunning
		x.addParams(i, "", t.Params, names)
		for _, m := range t.Metrics {
			v := Float(m.Value)
			set(x.Metrics, m.Name, i, len(x.Numbers), &v)
		}
	}
	return x
}

// addParams fills in row i. An object is a group of parameters, unless names has it: then it is a value. prefix ends
// with "/", or is empty.
func (x *Points) addParams(i int, prefix string, params []byte, names map[string]bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(params, &members) != nil {
		return
	}
	for name, v := range members {
		if name = prefix + name; v[0] == '{' && !names[name] {
			x.addParams(i, name+"/", v, names)
			continue
		}
		set(x.Params, name, i, len(x.Numbers), v)
	}
}

// set makes the column if it is new.
func set[T any](columns map[string][]T, name string, i, rows int, v T) {
	if columns[name] == nil {
		columns[name] = make([]T, rows)
	}
	columns[name][i] = v
}
