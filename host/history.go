package host

import (
	"errors"
	"io"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// history tells a plugin again what it was told: it runs the record through a
// machine of its own, beside the one that lives.
type history struct {
	// read calls f with each record so far, in order, until f says no.
	read   func(f func([]byte) (bool, error)) error
	encode func([]byte) (space.Point, error)
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
			translate: &translator{machine: m, encode: h.encode}}
		if err := h.read(r.record); err != nil {
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
	translate      *translator
	batch          []sdk.Event
}

func (r *retelling) record(b []byte) (more bool, err error) {
	at, e, err := record.Parse(b)
	if err != nil {
		return false, err
	}
	for _, a := range r.machine.Apply(at, e) {
		t, ok := a.(core.Tell)
		if !ok || t.Observation.To&r.to == 0 || t.Observation.Number <= r.after || t.Observation.Number > r.through {
			continue
		}
		x, err := r.translate.event(t.Observation, r.traits)
		if err != nil {
			return false, err
		}
		r.batch = append(r.batch, x)
	}
	if len(r.batch) >= historyBatch {
		err = r.flush()
	}
	return r.machine.Observations() < r.through, err
}

func (r *retelling) flush() error {
	if len(r.batch) == 0 {
		return nil
	}
	err := r.tell(r.batch)
	r.batch = nil
	return err
}

// readJournal reads the records of a journal that may be growing.
func readJournal(dir string) func(func([]byte) (bool, error)) error {
	return func(f func([]byte) (bool, error)) error {
		d, err := journal.OpenDir(dir)
		if err != nil {
			return err
		}
		defer d.Close()
		return readRecord(d, f)
	}
}

// readRecord calls f with the records, in order, until f says no.
func readRecord(d journal.ReadFS, f func([]byte) (bool, error)) error {
	r := journal.NewReader(d)
	defer r.Close()
	for {
		_, records, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, b := range records {
			if more, err := f(b); err != nil || !more {
				return err
			}
		}
	}
}
