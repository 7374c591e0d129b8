package host

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/recorded"
	"github.com/tunehost/tunehost/host/translation"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// history tells a plugin again what it was told: it runs the record through a
// machine of its own, beside the one that lives.
type history struct {
	read   walk
	encode func([]byte) (space.Point, error)
}

// walk tells f the events of the record so far, in order.
type walk func(f func(recorded.Entry) error) error

// walkIn is the walk through the record in a directory, which may be growing.
func walkIn(dir string) walk {
	return func(f func(recorded.Entry) error) error { return recorded.Walk(dir, f) }
}

const historyBatch = 1000

// tell is a plugin.History for listeners of one kind.
func (h *history) tell(to core.Audience, traits func() sdk.Traits) func(after, through uint64, tell func([]sdk.Event) error) error {
	return func(after, through uint64, tell func([]sdk.Event) error) error {
		if after >= through {
			return nil
		}
		m := core.New()
		r := retelling{to: to, after: after, through: through, tell: tell, traits: traits(), machine: m,
			translate: &translation.Translator{Machine: m, Encode: h.encode}}
		if err := h.read(r.hear); err != nil {
			return err
		}
		return r.flush()
	}
}

// retelling is one run through the record.
type retelling struct {
	to             core.Audience
	after, through uint64
	traits         sdk.Traits
	tell           func([]sdk.Event) error
	machine        *core.Machine
	translate      *translation.Translator
	batch          []sdk.Event
}

func (r *retelling) hear(e recorded.Entry) error {
	for _, a := range r.machine.Apply(e.At, e.Event) {
		t, ok := a.(core.Tell)
		if !ok || t.Observation.To&r.to == 0 || t.Observation.Number <= r.after || t.Observation.Number > r.through {
			continue
		}
		x, err := r.translate.Event(t.Observation, r.to, r.traits)
		if err != nil {
			return err
		}
		r.batch = append(r.batch, x)
	}
	if len(r.batch) >= historyBatch {
		if err := r.flush(); err != nil {
			return err
		}
	}
	if r.machine.Observations() >= r.through {
		return recorded.ErrStop
	}
	return nil
}

func (r *retelling) flush() error {
	if len(r.batch) == 0 {
		return nil
	}
	err := r.tell(r.batch)
	r.batch = nil
	return err
}
