package view

import (
	"path/filepath"
	"time"

	"github.com/tunehost/tunehost/core"
)

// Summary is an experiment in a list. Its JSON is the line of `ls --json`; fields are added, never
// renamed.
type Summary struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Trials int    `json:"trials"`
	// Metric is the first objective, Best its best value; nil: none yet.
	Metric  string    `json:"metric"`
	Best    *Float    `json:"best"`
	Changed time.Time `json:"changed"`
	Dir     string    `json:"dir"`
	// NeverStarted is how many of the trials ended before they ever started; Paused says that the user has
	// paused the experiment.
	NeverStarted int  `json:"never_started"`
	Paused       bool `json:"paused"`
	// Waiting is what a running experiment waits for, such as workers; else "".
	Waiting string `json:"waiting,omitempty"`
	// Planned is how many trials there will be, as in [Status]; Ended is how many have run to an end, Failed how many
	// of these have failed.
	Planned int64 `json:"planned"`
	Ended   int   `json:"ended"`
	Failed  int   `json:"failed"`
	// Front is how many trials no other beats, with several objectives.
	Front int `json:"front,omitempty"`
	// Objectives are all of several.
	Objectives []SummedObjective `json:"objectives,omitempty"`
	// Error says why the experiment cannot be read; then only Name, that of the directory, and Dir are set.
	Error string `json:"error,omitempty"`
}

// SummedObjective is an objective with its best value, whatever the others of that trial are; nil: none yet.
type SummedObjective struct {
	Metric string `json:"metric"`
	Best   *Float `json:"best"`
}

// Unreadable is the entry of an experiment that cannot be read.
func Unreadable(dir string, why error) Summary {
	return Summary{Name: filepath.Base(dir), Dir: dir, Error: why.Error()}
}

// Summary returns the experiment's entry in a list.
func (e *Experiment) Summary() (x Summary, err error) {
	x = Summary{Name: e.Name, Metric: e.Objectives()[0].Metric, Changed: e.Changed().UTC(), Dir: e.Place()}
	if x.State, err = e.State(); err != nil {
		return x, err
	}
	err = e.source.Look(func(s *State) {
		x.Trials, x.NeverStarted, x.Paused = s.Trials(), s.Machine.NeverStarted(), s.Machine.Paused()
		x.Planned, x.Failed = Planned(s.Machine), s.Machine.Count(core.Errored)
		x.Ended = s.Machine.Count(core.Terminated) - x.NeverStarted + x.Failed
		x.Best = s.bestValue(e.Objectives()[0])
		if x.State == Running {
			x.Waiting = s.waiting()
		}
		if len(e.Objectives()) > 1 {
			for _, o := range e.Objectives() {
				x.Objectives = append(x.Objectives, SummedObjective{o.Metric, s.bestValue(o)})
			}
		}
	})
	if err == nil && len(e.Objectives()) > 1 {
		var all []candidate
		all, err = e.candidates(e.Objectives(), Last)
		x.Front = len(frontOf(all))
	}
	return x, err
}

// bestValue is the best last value of an objective; nil: there is none.
func (s *State) bestValue(o core.Objective) *Float {
	_, value, ok := Best(s.Machine, o, Last)
	if !ok {
		return nil
	}
	v := Float(value)
	return &v
}
