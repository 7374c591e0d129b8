package view

import "time"

// Summary is an experiment in a list of several. Its JSON is the line of `ls --json`;
// fields are added, never renamed.
type Summary struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Trials int    `json:"trials"`
	// Metric is the first objective, Best its best value; nil: none yet.
	Metric  string    `json:"metric"`
	Best    *Float    `json:"best"`
	Changed time.Time `json:"changed"`
	Dir     string    `json:"dir"`
	// NeverStarted is how many of the trials were ended before they had ever
	// started; Paused: the user has paused it.
	NeverStarted int  `json:"never_started"`
	Paused       bool `json:"paused"`
}

// Summary is the experiment in a list.
func (e *Experiment) Summary() (x Summary, err error) {
	x = Summary{Name: e.Name, Metric: e.Objectives()[0].Metric, Changed: e.Changed().UTC(), Dir: e.Place()}
	if x.State, err = e.State(); err != nil {
		return x, err
	}
	err = e.source.Look(func(s *State) {
		x.Trials, x.NeverStarted, x.Paused = s.Trials(), s.Machine.NeverStarted(), s.Machine.Paused()
		if _, value, ok := Best(s.Machine, e.Objectives()[0], Last); ok {
			v := Float(value)
			x.Best = &v
		}
	})
	return x, err
}
