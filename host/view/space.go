package view

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Space is what an experiment searches, for what, and how.
type Space struct {
	Parameters []Parameter `json:"parameters"`
	// Others are the parameters that are not searched.
	Others     []OtherParameter `json:"others"`
	Objectives []Objective      `json:"objectives"`
	// Metrics are all metrics that any trial has reported.
	Metrics []string `json:"metrics"`
	// Searcher, Scheduler and Executor have a plugin and its options.
	Searcher  PluginOptions `json:"searcher"`
	Scheduler PluginOptions `json:"scheduler"`
	Executor  PluginOptions `json:"executor"`
	// Settings are the keys of the experiment file as they are now, with defaults; the space and plugins are left out.
	Settings map[string]json.RawMessage `json:"settings"`
	// Rungs are the iterations at which the scheduler has stopped trials early or paused them; none for a scheduler
	// that may do so at any iteration.
	Rungs []Rung `json:"rungs"`
}

// Parameter is a searched parameter.
type Parameter struct {
	Name string `json:"name"`
	// Type is float, int, normal, choice or ordinal.
	Type string `json:"type"`
	// Low and High are the bounds of a float or an int, both included.
	Low  *Float `json:"low,omitempty"`
	High *Float `json:"high,omitempty"`
	// Log says that the scale is logarithmic.
	Log  bool  `json:"log,omitempty"`
	Step Float `json:"step,omitempty"`
	// Mean and SD are those of a normal distribution.
	Mean *Float `json:"mean,omitempty"`
	SD   *Float `json:"sd,omitempty"`
	// Choices are the values of a choice or an ordinal.
	Choices []json.RawMessage `json:"choices,omitempty"`
	// Grid says that all values are tried.
	Grid bool `json:"grid,omitempty"`
	// When is the condition under which the parameter exists; "": always.
	When string `json:"when,omitempty"`
}

// OtherParameter is a constant, or computed from other parameters.
type OtherParameter struct {
	Name string `json:"name"`
	// Value is that of a constant.
	Value json.RawMessage `json:"value,omitempty"`
	// Computed is the expression of a computed value.
	Computed string `json:"computed,omitempty"`
	When     string `json:"when,omitempty"`
}

// Objective is a metric and its direction.
type Objective struct {
	Metric string `json:"metric"`
	Mode   string `json:"mode"`
}

// PluginOptions is a plugin with its options.
type PluginOptions struct {
	Name    string          `json:"name"`
	Options json.RawMessage `json:"options"`
}

// Rung is an iteration at which the scheduler has stopped trials early or paused them.
type Rung struct {
	Iteration uint64 `json:"iteration"`
	Stopped   int    `json:"stopped"`
	Paused    int    `json:"paused"`
	// Reason is why it has stopped or paused Trial, the last one there.
	Trial  core.TrialNo `json:"trial"`
	Reason string       `json:"reason,omitempty"`
}

// shownSettings are the keys that Space returns.
var shownSettings = []string{"budget", "checkpoint", "concurrency", "failures", "overcommit", "placement", "repeat",
	"resources", "reuse", "stop", "stop_grace", "storage", "trials", "wait_for_resources"}

// Space returns what the experiment searches, for what, and how.
func (e *Experiment) Space() (x Space, err error) {
	x = Space{Parameters: []Parameter{}, Others: e.others(), Searcher: optionsOf(e.Config.Searcher),
		Scheduler: optionsOf(e.Config.Scheduler), Executor: optionsOf(e.Config.Executor),
		Settings: map[string]json.RawMessage{}, Rungs: []Rung{}}
	for i := range e.Config.Space.Params {
		p := parameterOf(&e.Config.Space.Params[i])
		p.When = e.Config.When(i)
		x.Parameters = append(x.Parameters, p)
	}
	for _, o := range e.Objectives() {
		x.Objectives = append(x.Objectives, Objective{o.Metric, o.Mode.String()})
	}
	for _, name := range shownSettings {
		if text := e.Config.Key(name); text != nil {
			x.Settings[name] = text
		}
	}
	return x, e.recall(func(s *State, p *Past) error {
		x.Metrics = s.MetricNames()
		x.Rungs = rungs(p)
		return nil
	})
}

// rungs returns the rungs by iteration.
func rungs(p *Past) []Rung {
	list := []Rung{}
	for _, r := range p.Rungs() {
		list = append(list, Rung(r))
	}
	slices.SortFunc(list, func(a, b Rung) int { return cmp.Compare(a.Iteration, b.Iteration) })
	return list
}

func optionsOf(r config.PluginRef) PluginOptions {
	p := PluginOptions{r.Name, r.Options}
	if len(p.Options) == 0 {
		p.Options = json.RawMessage("{}")
	}
	return p
}

var kinds = map[space.Kind]string{space.Real: "float", space.Int: "int", space.Normal: "normal",
	space.Choice: "choice", space.Ordinal: "ordinal"}

func parameterOf(p *space.Param) Parameter {
	x := Parameter{Name: p.Name, Type: kinds[p.Kind], Log: p.Log, Step: Float(p.Step), Grid: p.Grid}
	a, b := new(Float), new(Float)
	switch p.Kind {
	case space.Real, space.Int:
		*a, *b = Float(p.Low), Float(p.High)
		x.Low, x.High = a, b
	case space.Normal:
		*a, *b = Float(p.Mean), Float(p.SD)
		x.Mean, x.SD = a, b
	}
	for _, c := range p.Choices {
		x.Choices = append(x.Choices, c)
	}
	return x
}

func (f *Facts) others() []OtherParameter {
	list := []OtherParameter{}
	for _, c := range f.Config.Constants {
		list = append(list, OtherParameter{Name: c.Name, Value: c.Value})
	}
	for i := range f.Config.Derived {
		d := &f.Config.Derived[i]
		x := OtherParameter{Name: d.Name, Value: d.Value, When: d.Condition()}
		if d.Program != nil {
			x.Value, x.Computed = nil, d.Program.Source()
		}
		list = append(list, x)
	}
	return list
}
