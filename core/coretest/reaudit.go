package coretest

import (
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/record"
)

// Audit applies a record from its beginning to a new machine, checks what a [World] checks after each
// event and at the end of an experiment, and returns the machine. see, if set, is called with each
// event and its actions.
func Audit(records [][]byte, see func(core.Event, []core.Action) error) (*core.Machine, error) {
	m := core.New()
	a := newAudit(m)
	for i, b := range records {
		at, e, err := record.Parse(b)
		if err != nil {
			return m, err
		}
		if err := a.event(at, e, see); err != nil {
			return m, fmt.Errorf("event %d (%T %+v): %w", i+1, e, e, err)
		}
	}
	return m, a.atEnd(*m.Spec())
}

func (a *audit) event(at int64, e core.Event, see func(core.Event, []core.Action) error) error {
	a.before(at, e)
	actions := a.m.Apply(at, e)
	if err := a.after(e, actions); err != nil {
		return err
	}
	if see != nil {
		if err := see(e, actions); err != nil {
			return err
		}
	}
	return Check(a.m)
}
