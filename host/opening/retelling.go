package opening

import (
	"errors"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/translation"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Retelling tells a plugin again what it was told: it goes through the record from its
// beginning, beside the experiment that lives.
type Retelling struct {
	Past Past
	// Encode finds the point of a trial's parameters.
	Encode func([]byte) (space.Point, error)
}

// Past opens the record from its beginning; it may be growing.
type Past func() (*history.History, error)

// PastIn is the Past of the experiment whose record is in a directory.
func PastIn(dir string) Past { return func() (*history.History, error) { return history.Open(dir) } }

const retoldAtATime = 1000

// Tell is a plugin.History for listeners of one kind.
func (r *Retelling) Tell(to core.Audience, traits func() sdk.Traits) plugin.History {
	return func(after, through uint64, tell func([]sdk.Event) error) error {
		if after >= through {
			return nil
		}
		h, err := r.Past()
		if err != nil {
			return err
		}
		t := retold{after: after, through: through, tell: tell,
			translate: &translation.Translator{Machine: h.Machine(), Encode: r.Encode}}
		t.listener = translation.Listener{To: to, Traits: traits(), Hear: t.add}
		if err := errors.Join(h.Each(t.hear), h.Close()); err != nil {
			return err
		}
		return t.flush()
	}
}

// retold is one run through the record.
type retold struct {
	after, through uint64
	tell           func([]sdk.Event) error
	translate      *translation.Translator
	listener       translation.Listener
	batch          []sdk.Event
}

func (r *retold) hear(s *history.Step) error {
	for o := range s.Observations(r.listener.To) {
		if o.Number <= r.after || o.Number > r.through {
			continue
		}
		if err := r.translate.Tell(o, &r.listener); err != nil {
			return err
		}
	}
	if len(r.batch) >= retoldAtATime {
		if err := r.flush(); err != nil {
			return err
		}
	}
	if s.Machine.Observations() >= r.through {
		return history.ErrStop
	}
	return nil
}

func (r *retold) add(e sdk.Event, _ bool) { r.batch = append(r.batch, e) }

func (r *retold) flush() error {
	if len(r.batch) == 0 {
		return nil
	}
	err := r.tell(r.batch)
	r.batch = nil
	return err
}
