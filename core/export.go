package core

import "slices"

// Export is a trial's model in one format. Error says why there is none; that is not a failure of the
// trial (B-060).
type Export struct {
	Format string
	Bytes  int64
	Error  string
}

func (e *ModelExported) apply(m *Machine) {
	if !m.current(e.Trial, e.Attempt) || m.liveOf(e.Trial).intent == toFail {
		return
	}
	if e.GivenUp {
		m.liveOf(e.Trial).unexported = e.Format // as if the host had died while it kept the model
	}
	x := Export{Format: e.Format, Bytes: e.Bytes, Error: e.Error}
	list := m.exports[e.Trial]
	if i := slices.IndexFunc(list, func(x Export) bool { return x.Format == e.Format }); i >= 0 {
		list[i] = x // an earlier host died before the trial's end
		return
	}
	m.exports[e.Trial] = append(list, x)
}

// Exports returns a trial's models, in the order in which they were made; they are read-only.
func (m *Machine) Exports(no TrialNo) []Export { return m.exports[no] }
