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
	p := page{Wanted: w, next: w.Through}
	err = r.Each(func(e *Entry) error {
		if e.Number > w.Through || !p.add(e) {
			return history.ErrStop
		}
		return nil
	})
	return p.list, p.next, err
}

// page is a page while it is made.
type page struct {
	Wanted
	list []*Entry
	next uint64
}

// add adds an entry if it is wanted, and reports whether there is room for more.
func (p *page) add(e *Entry) (more bool) {
	switch {
	case p.Trial != nil && !e.About(*p.Trial):
		return true
	case len(p.list) == p.Limit:
		p.next = p.list[len(p.list)-1].Number
		return false
	}
	p.list = append(p.list, e)
	return true
}
