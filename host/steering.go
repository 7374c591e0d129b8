package host

import (
	"errors"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/control"
	"github.com/tunehost/tunehost/host/naming"
)

// steering carries out what the user asks of a running experiment.
type steering struct {
	s *session
	// over is closed when the loop has ended.
	over <-chan struct{}
}

var _ control.Handler = (*steering)(nil)

// look calls f with the machine, between two steps of the loop.
func (c *steering) look(f func(*core.Machine)) error {
	seen := make(chan struct{})
	c.s.inbox.add([]news{{query: func(m *core.Machine) { f(m); close(seen) }}})
	select {
	case <-seen:
		return nil
	case <-c.over:
		return core.ErrFinished
	}
}

// Find implements control.Handler.
func (c *steering) Find(name string) (no uint32, err error) {
	failed := c.look(func(m *core.Machine) { no, err = naming.Find(name, c.s.file.Seed, m.Trials()) })
	return no, errors.Join(err, failed)
}

// Stop implements control.Handler.
func (c *steering) Stop(trial *uint32) error {
	no, all := target(trial)
	return c.post(&core.StopRequested{Trial: no, All: all, Reason: "stopped by the user"})
}

// Pause implements control.Handler.
func (c *steering) Pause(trial *uint32) error {
	no, all := target(trial)
	return c.post(&core.PauseRequested{Trial: no, All: all})
}

// Unpause implements control.Handler.
func (c *steering) Unpause(trial *uint32) error {
	no, all := target(trial)
	return c.post(&core.UnpauseRequested{Trial: no, All: all})
}

func target(trial *uint32) (no core.TrialNo, all bool) {
	if trial == nil {
		return 0, true
	}
	return core.TrialNo(*trial), false
}

// post returns when the event is recorded and applied.
func (c *steering) post(e core.Event) error {
	c.s.inbox.post(e)
	return c.look(func(*core.Machine) {})
}

// Add implements control.Handler (B-007).
func (c *steering) Add(params []byte) (no uint32, err error) {
	e, seed := c.s.experiment, c.s.file.Seed
	given, err := e.Given("params", params)
	if err != nil {
		return 0, err
	}
	var index uint64
	if err := c.look(func(m *core.Machine) { index = uint64(m.Trials()) }); err != nil {
		return 0, err
	}
	g, err := complete(e, seed, uint64(len(e.Points))+index, given)
	if err != nil {
		return 0, err
	}
	if err := c.s.requesting.fill(&g); err != nil {
		return 0, err
	}
	added := make(chan struct{})
	c.s.inbox.add([]news{{event: &core.TrialGiven{Suggestion: g, Extra: true}},
		{query: func(m *core.Machine) {
			first, _ := m.Runs(core.TrialNo(m.Trials() - 1))
			no = uint32(first)
			close(added)
		}}})
	select {
	case <-added:
		return no, nil
	case <-c.over:
		return 0, core.ErrFinished
	}
}
