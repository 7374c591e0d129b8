package opening

import (
	"errors"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/consult/translation"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Redelivery sends earlier events to a plugin again: it reads the record from its beginning, while the
// experiment runs.
type Redelivery struct {
	Past Past
	// Encode finds the point of a trial's parameters.
	Encode func([]byte) (space.Point, error)
}

// Past opens the record from its beginning; the record may be growing.
type Past func() (*history.History, error)

// PastIn returns the Past of the experiment whose record is in a directory.
func PastIn(dir string) Past { return func() (*history.History, error) { return history.Open(dir) } }

const redeliveryBatch = 1000

// Tell is a plugin.History for listeners of one kind.
func (r *Redelivery) Tell(to core.Audience, traits func() sdk.Traits) plugin.History {
	return func(after, through uint64, tell func([]sdk.Event) error) error {
		if after >= through {
			return nil
		}
		h, err := r.Past()
		if err != nil {
			return err
		}
		t := delivery{after: after, through: through, tell: tell,
			translate: &translation.Translator{Machine: h.Machine(), Encode: r.Encode}}
		t.listener = translation.Listener{To: to, Traits: traits(), Hear: t.add}
		if err := errors.Join(h.Each(t.step), h.Close()); err != nil {
			return err
		}
		return t.flush()
	}
}

// delivery is one pass through the record.
type delivery struct {
	after, through uint64
	tell           func([]sdk.Event) error
	translate      *translation.Translator
	listener       translation.Listener
	batch          []sdk.Event
}

func (r *delivery) step(s *history.Step) error {
	for o := range s.Observations(r.listener.To) {
		if o.Number <= r.after || o.Number > r.through {
			continue
		}
		if err := r.translate.Tell(o, &r.listener); err != nil {
			return err
		}
	}
	if len(r.batch) >= redeliveryBatch {
		if err := r.flush(); err != nil {
			return err
		}
	}
	if s.Machine.Observations() >= r.through {
		return history.ErrStop
	}
	return nil
}

func (r *delivery) add(e sdk.Event, _ bool) { r.batch = append(r.batch, e) }

func (r *delivery) flush() error {
	if len(r.batch) == 0 {
		return nil
	}
	err := r.tell(r.batch)
	r.batch = nil
	return err
}
