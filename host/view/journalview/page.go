package journalview

import (
	"errors"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage"
)

// Wanted says which entries a page has.
type Wanted struct {
	// After and Through are numbers of entries: only later ones, and only those up to this one.
	After, Through uint64
	// Limit is how many there are at most.
	Limit int
	// Trial is the trial that they are about; nil: any.
	Trial *core.TrialNo
}

// Page reads some entries of the record of an experiment. next is the number to continue after.
func Page(dir storage.Dir, w Wanted) (list []*Entry, next uint64, err error) {
	r, err := Open(dir)
	if errors.Is(err, journal.ErrNoJournal) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	r.Skip(w.After + 1)
	next = w.Through
	err = r.Each(func(e *Entry) error {
		switch {
		case e.Number > w.Through:
			return history.ErrStop
		case w.Trial != nil && !e.About(*w.Trial):
			return nil
		case len(list) == w.Limit:
			next = list[len(list)-1].Number
			return history.ErrStop
		}
		list = append(list, e)
		return nil
	})
	return list, next, err
}
