package core

import "github.com/tunehost/tunehost/core/stat"

// A trial that continues from another's checkpoint, or with other parameters, begins a new stretch
// (B-154). Its statistics are of its own results in the present stretch; earlier ones stay with the
// parameters that they were measured with. As long as the present stretch has no result, the one
// before represents the trial.

// stretch is a finished part of a trial's training.
type stretch struct {
	params    span
	attempt   uint32 // its first
	results   uint32
	cells     int32
	saved     uint32 // the highest checkpoint ID before it
	iteration uint64
	spent     int64 // training time up to its end
}

// earlierStretches is what a trial with more than one stretch has beside its row.
type earlierStretches struct {
	past    []stretch // with results, oldest first
	attempt uint32    // the first of the present stretch
	saved   uint32    // the highest checkpoint ID before it
}

// branch begins another stretch at the iteration of a checkpoint. A trial that never ran begins its
// first one there.
func (m *Machine) branch(no TrialNo, l *live, from CheckpointRef) {
	t := m.trial(no)
	if !m.since(RulesV2) || t.attempt == 1 {
		return
	}
	c := m.earlier[no]
	if c == nil {
		c = &earlierStretches{attempt: 1}
		m.earlier[no] = c
	}
	if t.results > 0 {
		c.past = append(c.past, m.present(no))
		t.cells = 0
	}
	m.scratch(t, l)
	t.iteration, t.told = from.Iteration, from.Iteration
	c.attempt, c.saved = t.attempt, t.lastCkpt
}

// asSuggested reports that the trial does exactly what the searcher suggested: with the suggested
// parameters from the beginning on.
func (m *Machine) asSuggested(no TrialNo) bool { return m.earlier[no] == nil }

// ofStretch reports whether a checkpoint was made in the trial's present stretch, so that its
// statistics are those of the stretch. Before RulesV2 a trial took over another's.
func (m *Machine) ofStretch(no TrialNo, ref CheckpointRef) bool {
	c := m.earlier[no]
	return !m.since(RulesV2) || ref.Trial == no && (c == nil || ref.ID > c.saved)
}

// reported reports whether the trial has any result of its own.
func (m *Machine) reported(no TrialNo) bool {
	if c := m.earlier[no]; c != nil && len(c.past) > 0 {
		return true
	}
	return m.trial(no).results > 0
}

// present returns the trial's current stretch.
func (m *Machine) present(no TrialNo) stretch {
	t := m.trial(no)
	s := stretch{params: t.params, attempt: 1, results: t.results, cells: t.cells, iteration: t.iteration,
		spent: m.trainingTime(t)}
	if m.since(RulesV2) && t.results > 0 {
		s.iteration = t.resultAt
	}
	if c := m.earlier[no]; c != nil {
		s.attempt, s.saved = c.attempt, c.saved
	}
	return s
}

// stretches returns those that represent the trial: the present one if it has a result or is the only
// one.
func (m *Machine) stretches(no TrialNo) []stretch {
	c := m.earlier[no]
	switch {
	case c == nil || len(c.past) == 0:
		return []stretch{m.present(no)}
	case m.trial(no).results == 0:
		return c.past
	}
	return append(c.past[:len(c.past):len(c.past)], m.present(no))
}

// known returns the stretch of the trial's last own result, or the present one if there is none.
func (m *Machine) known(no TrialNo) stretch {
	if c := m.earlier[no]; c != nil && len(c.past) > 0 && m.trial(no).results == 0 {
		return c.past[len(c.past)-1]
	}
	return m.present(no)
}

// knownCells is known for the first cell alone.
func (m *Machine) knownCells(no TrialNo) int32 {
	if c := m.earlier[no]; c != nil {
		return m.known(no).cells
	}
	return m.trial(no).cells
}

// Stretch is a part of a trial's training: consecutive results with the same parameters. A trial
// begins another one each time it continues from another's checkpoint or with other parameters.
type Stretch struct {
	// Params is a JSON object, read-only.
	Params []byte
	// Attempt is its first one, Next the first of the stretch after it; 0 for none.
	Attempt, Next uint32
	Results       uint32
	// Iteration is the iteration of its last result.
	Iteration uint64
	// TrainNS is the trial's training time up to its end.
	TrainNS int64
	// Checkpoints made in it have IDs above After and up to Through.
	After, Through uint32

	cells int32
}

// Made reports whether a checkpoint of the trial was made in the stretch.
func (s *Stretch) Made(id uint32) bool { return s.After < id && id <= s.Through }

// Has reports whether a result of an attempt belongs to the stretch.
func (s *Stretch) Has(attempt uint32) bool {
	return s.Attempt <= attempt && (s.Next == 0 || attempt < s.Next)
}

// Stretches returns the parts of a trial's training that have results, oldest first; if none has, the
// present one. Before RulesV2 there is one, which has all.
func (m *Machine) Stretches(no TrialNo) []Stretch {
	list := m.stretches(no)
	out := make([]Stretch, len(list))
	for i, s := range list {
		out[i] = m.shown(no, s)
		if i > 0 {
			out[i-1].Through, out[i-1].Next = s.saved, s.attempt
		}
	}
	return out
}

// LastStretch returns the last of [Machine.Stretches].
func (m *Machine) LastStretch(no TrialNo) Stretch { return m.shown(no, m.known(no)) }

// shown returns a stretch as if it were the last one.
func (m *Machine) shown(no TrialNo, s stretch) Stretch {
	return Stretch{Params: m.params.at(s.params), Attempt: s.attempt, Results: s.results, Iteration: s.iteration,
		TrainNS: s.spent, After: s.saved, Through: m.trial(no).lastCkpt, cells: s.cells}
}

// Suggested returns the stretch in which the trial did what the searcher suggested; ok is false if
// nothing was reported in it.
func (m *Machine) Suggested(no TrialNo) (s Stretch, ok bool) {
	s = m.Stretches(no)[0]
	return s, s.Attempt == 1 && s.Results > 0
}

// SummaryIn returns the summary of a metric over a stretch, and whether it was reported.
func (m *Machine) SummaryIn(s *Stretch, id MetricID) (stat.Summary, bool) {
	return m.summaryIn(s.cells, id)
}

func (m *Machine) summaryIn(cells int32, id MetricID) (stat.Summary, bool) {
	for at := cells; at != 0; at = m.cell(at).next {
		if c := m.cell(at); c.id == id {
			return m.summaryOf(c), m.valuesIn(c) > 0
		}
	}
	return stat.Summary{}, false
}

func (m *Machine) eachIn(cells int32, f func(MetricID, stat.Summary)) {
	for at := cells; at != 0; at = m.cell(at).next {
		if c := m.cell(at); m.valuesIn(c) > 0 {
			f(c.id, m.summaryOf(c))
		}
	}
}

// EachSummaryOfAll is EachSummary over all stretches, one after the other.
func (m *Machine) EachSummaryOfAll(no TrialNo, f func(MetricID, stat.Summary)) {
	for _, s := range m.stretches(no) {
		m.eachIn(s.cells, f)
	}
}
