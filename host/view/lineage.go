package view

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
)

// Stretch is a part of a trial's training with constant parameters. It begins with the trial, or when
// a scheduler or a user continues the trial from another's checkpoint, or from its own with other
// parameters.
type Stretch struct {
	Trial core.TrialNo
	ID    string
	// Suggestion is that of which the trial is a run; nil if each has one run.
	Suggestion *int
	// Parent is the index of the stretch whose checkpoint it continues from; -1 for none.
	Parent int
	// From is the iteration of that checkpoint, To that of its last result.
	From, To uint64
	// Params is a JSON object, nested as in the experiment file.
	Params []byte
	// Value is the first objective's value in its last result, if it is known and finite.
	Value float64
	Known bool
	// Reason says why it began, if a reason was given.
	Reason string

	trained bool // it has a result
}

// stretchJSON is the shape that `lineage --json` promises.
type stretchJSON struct {
	Trial  string       `json:"trial"`
	Number core.TrialNo `json:"number"`
	// Suggestion is there if suggestions have several runs.
	Suggestion *int            `json:"suggestion,omitempty"`
	Parent     *int            `json:"parent"`
	From       uint64          `json:"from"`
	To         uint64          `json:"to"`
	Params     json.RawMessage `json:"params"`
	Value      *Float          `json:"value"`
	Reason     *string         `json:"reason"`
}

// MarshalJSON writes the stable shape of `lineage --json`.
func (s Stretch) MarshalJSON() ([]byte, error) {
	shape := stretchJSON{Trial: s.ID, Number: s.Trial, Suggestion: s.Suggestion, From: s.From, To: s.To,
		Params: s.Params, Reason: orNull(s.Reason)}
	if s.Parent >= 0 {
		shape.Parent = &s.Parent
	}
	if s.Known {
		v := Float(s.Value)
		shape.Value = &v
	}
	return json.Marshal(shape)
}

// Lineage is the family tree of trials: stretches in the order in which they began, so that a parent
// comes before its children.
type Lineage struct {
	Stretches []Stretch
	// best are the indices of the stretches with the value that [Experiment.Best] returns: one, or one of each run of a
	// suggestion.
	best []int
}

// Lineage returns it as far as the record was read.
func (e *Experiment) Lineage() (l *Lineage, err error) {
	return l, e.recall(func(s *State, p *Past) error {
		l = p.lineage.lineage(s)
		return nil
	})
}

// prune removes the stretches of trials that ended before they reported anything in them: nothing was
// trained with those parameters (B-154), and nothing continued from them.
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

// lineageBuilder builds a lineage while it follows the record.
type lineageBuilder struct {
	legs []leg
	// now has the index of each trial's present leg, plus one.
	now []int32
	// origins are the checkpoints of other trials from which present legs began.
	origins map[core.TrialNo]core.CheckpointRef
	made    map[made]int32          // the leg that made each checkpoint that exists
	why     map[core.TrialNo]string // the last order to continue from elsewhere
}

func newLineageBuilder() *lineageBuilder {
	return &lineageBuilder{origins: map[core.TrialNo]core.CheckpointRef{}, made: map[made]int32{},
		why: map[core.TrialNo]string{}}
}

// made names a checkpoint of a trial.
type made struct {
	trial core.TrialNo
	id    uint32
}

// leg is a stretch in a compact form: a large experiment has one for each trial.
type leg struct {
	trial    core.TrialNo
	parent   int32
	from, to uint64
	value    float64
	// params are nil if they are those that the trial was created with.
	params         []byte
	reason         string
	known, trained bool
}

func (g *leg) paramsOf(m *core.Machine) []byte {
	if g.params == nil {
		return m.FirstParams(g.trial)
	}
	return g.params
}

// lineage returns the stretches so far.
func (w *lineageBuilder) lineage(s *State) *Lineage {
	l := &Lineage{Stretches: make([]Stretch, 0, len(w.legs))}
	_, runs := s.Machine.Runs(0)
	for i := range w.legs {
		g := &w.legs[i]
		l.Stretches = append(l.Stretches, Stretch{Trial: g.trial, ID: s.id(g.trial), Parent: int(g.parent),
			From: g.from, To: g.to,
			Params: slices.Clone(g.paramsOf(s.Machine)), Value: g.value, Known: g.known, Reason: g.reason,
			trained: g.trained})
		if runs > 1 {
			suggestion := int(g.trial) / runs
			l.Stretches[i].Suggestion = &suggestion
		}
	}
	l.prune(s.Machine)
	l.best = l.bestOf(s.bestRuns(s.Objectives()[0], Last))
	return l
}

// leg returns the present leg of a trial; nil: it has none.
func (w *lineageBuilder) leg(no core.TrialNo) *leg {
	if int(no) >= len(w.now) || w.now[no] == 0 {
		return nil
	}
	return &w.legs[w.now[no]-1]
}

// after takes a step. objective is the metric of the first objective.
func (w *lineageBuilder) after(x *history.Step, objective string) {
	switch e := x.Event.(type) {
	case *core.SchedulerDecided:
		for _, c := range e.Commands {
			if c.Kind == core.Exploit {
				w.why[c.Trial] = c.Reason
			}
		}
	case *core.CheckpointSaved:
		if w.leg(e.Trial) != nil {
			w.made[made{e.Trial, e.ID}] = w.now[e.Trial] - 1
		}
	}
	for _, a := range x.Actions {
		switch a := a.(type) {
		case core.StartAttempt:
			w.start(x.Machine, a)
		case core.DeleteCheckpoint:
			delete(w.made, made{a.Trial, a.ID})
		case *core.Tell:
			if a.Observation.Kind == core.SawResult && !a.Observation.Learned {
				w.result(&a.Observation, x.Machine.Metric(objective))
			}
		}
	}
}

// start begins a leg, or continues the trial's present one.
func (w *lineageBuilder) start(m *core.Machine, a core.StartAttempt) {
	params := m.Params(a.Trial)
	g := w.leg(a.Trial)
	foreign := a.Restore.ID != 0 && a.Restore.Trial != a.Trial && a.Restore.Trial != core.NoTrial
	origin := w.origins[a.Trial]
	if g != nil && bytes.Equal(params, g.paramsOf(m)) && (!foreign || a.Restore == origin) {
		g.from, g.to = min(g.from, a.Restore.Iteration), a.Restore.Iteration
		if a.Restore.ID == 0 {
			g.parent = -1 // all its checkpoints are lost: it starts from the beginning
		}
		return
	}
	next := leg{trial: a.Trial, parent: -1, reason: w.why[a.Trial]}
	if !bytes.Equal(params, m.FirstParams(a.Trial)) {
		next.params = slices.Clone(params)
	}
	if a.Restore.ID != 0 {
		next.from, next.to = a.Restore.Iteration, a.Restore.Iteration
	}
	if i, ok := w.made[made{a.Restore.Trial, a.Restore.ID}]; ok {
		next.parent = i
	}
	delete(w.why, a.Trial)
	delete(w.origins, a.Trial)
	if foreign {
		w.origins[a.Trial] = a.Restore
	}
	w.legs = append(w.legs, next)
	for int(a.Trial) >= len(w.now) {
		w.now = append(w.now, 0)
	}
	w.now[a.Trial] = int32(len(w.legs))
}

// result takes a result. metric is the first objective; 0: nobody has reported it.
func (w *lineageBuilder) result(o *core.Observation, metric core.MetricID) {
	g := w.leg(o.Trial)
	if g == nil {
		return // trials of the user's own loop do not start
	}
	g.to, g.trained = o.Iteration, true
	g.value, g.known = 0, false
	for _, x := range o.Metrics {
		if x.ID == metric && metric != 0 {
			g.value, g.known = x.Value, finite(x.Value)
		}
	}
}

// Cut keeps at most so many stretches: first those of trials that continued from others or changed
// their parameters, and those that they came from. It returns how many there were.
func (l *Lineage) Cut(most int) (total int) {
	total = len(l.Stretches)
	if most <= 0 || total <= most {
		return total
	}
	moved, kept := make([]int, total), l.Stretches[:0]
	keep := l.worthKeeping(most)
	for i := range keep {
		if !keep[i] {
			continue
		}
		s := l.Stretches[i]
		moved[i] = len(kept)
		if s.Parent >= 0 {
			s.Parent = moved[s.Parent]
		}
		kept = append(kept, s)
	}
	var best []int
	for _, i := range l.best {
		if keep[i] {
			best = append(best, moved[i])
		}
	}
	l.Stretches, l.best = kept, best
	return total
}

// worthKeeping selects stretches; with each its ancestors.
func (l *Lineage) worthKeeping(most int) []bool {
	keep, n := make([]bool, len(l.Stretches)), 0
	add := func(i int) {
		var line []int
		for ; i >= 0 && !keep[i]; i = l.Stretches[i].Parent {
			line = append(line, i)
		}
		for _, i := range line {
			if n+len(line) <= most {
				keep[i] = true
			}
		}
		if n+len(line) <= most {
			n += len(line)
		}
	}
	for _, best := range l.Best() {
		add(best)
	}
	for i, s := range l.Stretches {
		if s.Parent >= 0 {
			add(i)
		}
	}
	for i := range l.Stretches {
		add(i)
	}
	return keep
}

// Branches reports whether any trial continued from another or with other parameters.
func (l *Lineage) Branches() bool {
	return slices.ContainsFunc(l.Stretches, func(s Stretch) bool { return s.Parent >= 0 })
}

// Best returns the indices of the stretches in which the best trial got its value, or the runs of the best suggestion
// got theirs; none if no trial has one, or if they were cut off. It is the trial that [Experiment.Best] returns by
// default, so that all places name the same one (B-141).
func (l *Lineage) Best() []int { return l.best }

// bestOf returns the indices of the stretches in which trials got their values.
func (l *Lineage) bestOf(trials []core.TrialNo) (list []int) {
	for _, no := range trials {
		for i, s := range slices.Backward(l.Stretches) {
			if s.Trial == no && s.Known {
				list = append(list, i)
				break
			}
		}
	}
	return list
}

// Line returns the indices of the stretches that led to the trial as it is now, the first ancestor's
// first; nil if the trial never ran.
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

// Change is a change in a schedule of parameters: from Iteration on, Params (by full name) have new
// values.
type Change struct {
	Iteration uint64         `json:"iteration"`
	Params    map[string]any `json:"params"`
}

// Policy returns the schedule of parameters along a line of stretches: the initial ones, and each
// change. It omits parameters that are not searched.
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
			maps.Copy(changes[end].Params, changed)
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

// Drawn returns the values of the parameters that a stretch got from random numbers of the experiment: its point does
// not determine them.
func (e *Experiment) Drawn(s *Stretch) map[string]any {
	all, drawn := e.Config.Values(s.Params), map[string]any{}
	for _, d := range e.Config.Derived {
		if v, ok := all[d.Name]; ok && d.Program != nil && d.Program.Random() {
			drawn[d.Name] = v
		}
	}
	return drawn
}

// differing returns the values of now that differ from before.
func differing(before, now map[string]any) map[string]any {
	changed := map[string]any{}
	for name, v := range now {
		if old, ok := before[name]; !ok || !reflect.DeepEqual(old, v) {
			changed[name] = v
		}
	}
	return changed
}
