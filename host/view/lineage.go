package view

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/stat"
)

// Stretch is a part of a trial's training in which its parameters stayed the same. It
// begins with the trial, or where a scheduler or a user let the trial go on from
// another's checkpoint, or from its own with other parameters.
type Stretch struct {
	Trial core.TrialNo
	ID    string
	// Parent is the index of the stretch whose checkpoint it goes on from; -1 for
	// none.
	Parent int
	// From is the iteration of that checkpoint, To that of its last result.
	From, To uint64
	// Params is a JSON object, nested as in the experiment file.
	Params []byte
	// Value is that of the first objective in its last result, if that is known and
	// finite.
	Value float64
	Known bool
	// Reason says why it began, if somebody gave one.
	Reason string

	trained bool // it has a result
}

// MarshalJSON writes the stable shape of `lineage --json`.
func (s Stretch) MarshalJSON() ([]byte, error) {
	shape := struct {
		Trial  string          `json:"trial"`
		Number core.TrialNo    `json:"number"`
		Parent *int            `json:"parent"`
		From   uint64          `json:"from"`
		To     uint64          `json:"to"`
		Params json.RawMessage `json:"params"`
		Value  *Float          `json:"value"`
		Reason *string         `json:"reason"`
	}{Trial: s.ID, Number: s.Trial, From: s.From, To: s.To, Params: s.Params, Reason: orNull(s.Reason)}
	if s.Parent >= 0 {
		shape.Parent = &s.Parent
	}
	if s.Known {
		v := Float(s.Value)
		shape.Value = &v
	}
	return json.Marshal(shape)
}

// Lineage is who went on from whom: stretches in the order in which they began, so
// that a parent comes before its children.
type Lineage struct {
	Stretches []Stretch
	mode      stat.Mode
}

// Lineage reads it from the record.
func (e *Experiment) Lineage() (*Lineage, error) {
	o := e.Objectives()[0]
	w := &genealogist{metric: o.Metric, lineage: Lineage{mode: o.Mode},
		now: map[core.TrialNo]*present{}, made: map[core.CheckpointRef]int{}, why: map[core.TrialNo]string{}}
	err := e.walk(w.after)
	if err != nil || w.state == nil {
		return &w.lineage, err
	}
	w.lineage.prune(w.state.Machine)
	return &w.lineage, nil
}

// prune takes out the stretches of trials that had ended before they reported anything in them:
// nothing was trained with those parameters (B-154). Nobody went on from them.
func (l *Lineage) prune(m *core.Machine) {
	moved, kept, known := make([]int, len(l.Stretches)), l.Stretches[:0], map[core.TrialNo]bool{}
	for i, s := range l.Stretches {
		if known[s.Trial] && !s.trained && m.State(s.Trial).Final() {
			continue
		}
		known[s.Trial], moved[i] = true, len(kept)
		if s.Parent >= 0 {
			s.Parent = moved[s.Parent]
		}
		kept = append(kept, s)
	}
	l.Stretches = kept
}

// genealogist follows the record.
type genealogist struct {
	state   *State // nil before anything was read
	metric  string
	lineage Lineage
	now     map[core.TrialNo]*present
	made    map[core.CheckpointRef]int // in which stretch
	why     map[core.TrialNo]string    // the last order to go on from elsewhere
}

// present is where a trial is.
type present struct {
	stretch int
	origin  core.CheckpointRef // of another trial, from which the stretch began
}

func (w *genealogist) after(s *State, x *history.Step) error {
	w.state = s
	switch e := x.Event.(type) {
	case *core.SchedulerDecided:
		for _, c := range e.Commands {
			if c.Kind == core.Exploit {
				w.why[c.Trial] = c.Reason
			}
		}
	case *core.CheckpointSaved:
		if p := w.now[e.Trial]; p != nil {
			w.made[core.CheckpointRef{Trial: e.Trial, ID: e.ID, Iteration: e.Iteration}] = p.stretch
		}
	}
	for _, a := range x.Actions {
		switch a := a.(type) {
		case core.StartAttempt:
			w.start(a)
		case core.Tell:
			if a.Observation.Kind == core.SawResult {
				w.result(a.Observation)
			}
		}
	}
	return nil
}

// start begins a stretch, or goes on with the one that the trial is in.
func (w *genealogist) start(a core.StartAttempt) {
	params := w.state.Machine.Params(a.Trial)
	p := w.now[a.Trial]
	foreign := a.Restore.ID != 0 && a.Restore.Trial != a.Trial && a.Restore.Trial != core.NoTrial
	if p != nil && bytes.Equal(params, w.lineage.Stretches[p.stretch].Params) && (!foreign || a.Restore == p.origin) {
		s := &w.lineage.Stretches[p.stretch]
		s.From, s.To = min(s.From, a.Restore.Iteration), a.Restore.Iteration
		if a.Restore.ID == 0 {
			s.Parent = -1 // all its checkpoints are lost: it began anew
		}
		return
	}
	s := Stretch{Trial: a.Trial, ID: w.state.id(a.Trial), Parent: -1, Params: slices.Clone(params),
		Reason: w.why[a.Trial]}
	if a.Restore.ID != 0 {
		s.From, s.To = a.Restore.Iteration, a.Restore.Iteration
	}
	if i, ok := w.made[a.Restore]; ok {
		s.Parent = i
	}
	delete(w.why, a.Trial)
	p = &present{stretch: len(w.lineage.Stretches)}
	if foreign {
		p.origin = a.Restore
	}
	w.now[a.Trial] = p
	w.lineage.Stretches = append(w.lineage.Stretches, s)
}

func (w *genealogist) result(o core.Observation) {
	p := w.now[o.Trial]
	if p == nil {
		return // trials of the user's own loop do not start
	}
	s := &w.lineage.Stretches[p.stretch]
	s.To, s.trained = o.Iteration, true
	s.Value, s.Known = reported(Moment{Observation: o, State: w.state}, w.metric)
}

// Branches says whether any trial went on from another or with other parameters.
func (l *Lineage) Branches() bool {
	return slices.ContainsFunc(l.Stretches, func(s Stretch) bool { return s.Parent >= 0 })
}

// Best is the index of the stretch with the best value; -1 where none is known.
func (l *Lineage) Best() int {
	best := -1
	for i, s := range l.Stretches {
		if s.Known && (best < 0 || stat.Better(s.Value, l.Stretches[best].Value, l.mode)) {
			best = i
		}
	}
	return best
}

// Line has the indices of the stretches that led to the trial as it stands, the first
// ancestor's first; nil where the trial never ran.
func (l *Lineage) Line(trial core.TrialNo) (line []int) {
	at := -1
	for i, s := range l.Stretches {
		if s.Trial == trial {
			at = i
		}
	}
	for ; at >= 0; at = l.Stretches[at].Parent {
		line = append(line, at)
	}
	slices.Reverse(line)
	return line
}

// Change is where a schedule of parameters changes: from Iteration on, Params (by
// their full names) are other ones than before.
type Change struct {
	Iteration uint64         `json:"iteration"`
	Params    map[string]any `json:"params"`
}

// Policy is the schedule of parameters along a line of stretches: what the first began
// with, and each change. Parameters that are not searched are left out.
func (e *Experiment) Policy(l *Lineage, line []int) (begin map[string]any, changes []Change) {
	var last map[string]any
	for n, i := range line {
		s := &l.Stretches[i]
		now := e.searched(s.Params)
		if n == 0 {
			begin, last = now, now
			continue
		}
		changed := differing(last, now)
		last = now
		switch end := len(changes) - 1; {
		case len(changed) == 0:
		case end >= 0 && changes[end].Iteration == s.From: // nothing was trained in between
			for name, v := range changed {
				changes[end].Params[name] = v
			}
		case s.From == 0:
			begin = now
		default:
			changes = append(changes, Change{s.From, changed})
		}
	}
	return begin, changes
}

func (e *Experiment) searched(params []byte) map[string]any {
	all, searched := e.Config.Values(params), map[string]any{}
	for i := range e.Config.Space.Params {
		if v, ok := all[e.Config.Space.Params[i].Name]; ok {
			searched[e.Config.Space.Params[i].Name] = v
		}
	}
	return searched
}

// differing are those of now that were not so before.
func differing(before, now map[string]any) map[string]any {
	changed := map[string]any{}
	for name, v := range now {
		if old, ok := before[name]; !ok || !reflect.DeepEqual(old, v) {
			changed[name] = v
		}
	}
	return changed
}
