package core

import "slices"

// Export is a trial's model in one format. Error says why it is not there; that
// is no failure of the trial's (B-060).
type Export struct {
	Format string
	Bytes  int64
	Error  string
}

func (e *ModelExported) apply(m *Machine) {
	if !m.current(e.Trial, e.Attempt) || m.liveOf(e.Trial).intent == toFail {
		return
	}
	x := Export{Format: e.Format, Bytes: e.Bytes, Error: e.Error}
	list := m.exports[e.Trial]
	if i := slices.IndexFunc(list, func(x Export) bool { return x.Format == e.Format }); i >= 0 {
		list[i] = x // an earlier host did not live to see the trial's end
		return
	}
	m.exports[e.Trial] = append(list, x)
}

// Exports are a trial's models, in the order in which they were made: read them
// only.
func (m *Machine) Exports(no TrialNo) []Export { return m.exports[no] }
