package consult

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// ScheduleWork is an event to tell; a due one waits for a decision.
type ScheduleWork struct {
	Event sdk.Event
	Due   bool
	// Params are what the trial trains with from this event on; nil: the same as before.
	Params []byte
}

// Work returns the work of an event. The machine has just applied what it is about.
func Work(m *core.Machine, e sdk.Event, due bool) ScheduleWork {
	w := ScheduleWork{Event: e, Due: due}
	if e.Kind == sdk.TrialAdded || e.Kind == sdk.TrialStarted {
		w.Params = m.Params(core.TrialNo(e.Trial))
	}
	return w
}

// Known has what trials train with, as far as the scheduler was told of them. It depends only on the events that were
// told, so that a replay knows the same, however late the scheduler had answered.
type Known map[uint32][]byte

// Hear takes over what an event says, unless k is nil.
func (k Known) Hear(w *ScheduleWork) {
	if k != nil && w.Params != nil {
		k[w.Event.Trial] = w.Params
	}
}
