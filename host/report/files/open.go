package files

import (
	"container/list"
	"errors"
	"os"

	"github.com/tunehost/tunehost/core"
)

// entry is a trial whose files are open.
type entry struct {
	trial  core.TrialNo
	tables []*table
	dirty  bool // has rows to flush
	over   bool // no row is to be expected soon
	at     *list.Element
}

func (e *entry) each(do func(*table) error) error {
	for _, t := range e.tables {
		if err := do(t); err != nil {
			return err
		}
	}
	return nil
}

// openFiles are those of the trials that reported last, at most max.
type openFiles struct {
	formats []Format
	max     int
	writeAt writer
	trials  map[core.TrialNo]*entry
	recent  *list.List // of *entry; the front was used last
	dirty   []*entry
}

func newOpenFiles(formats []Format, max int) *openFiles {
	return &openFiles{formats: formats, max: max, writeAt: (*os.File).WriteAt, trials: map[core.TrialNo]*entry{}, recent: list.New()}
}

// of opens the trial's files, or finds them open.
func (o *openFiles) of(no core.TrialNo, dir string) (*entry, error) {
	if e, ok := o.trials[no]; ok {
		o.recent.MoveToFront(e.at)
		return e, nil
	}
	if err := o.shrink(o.max - 1); err != nil {
		return nil, err
	}
	e := &entry{trial: no}
	for _, format := range o.formats {
		t, err := openTable(dir, format, o.writeAt)
		if err != nil {
			return nil, errors.Join(err, e.each((*table).close))
		}
		e.tables = append(e.tables, t)
	}
	e.at = o.recent.PushFront(e)
	o.trials[no] = e
	return e, nil
}

// touch says that the entry's rows are to be flushed, or the entry is over.
func (o *openFiles) touch(e *entry) {
	if !e.dirty {
		e.dirty = true
		o.dirty = append(o.dirty, e)
	}
}

// flush writes the rows of the batch, and closes what is over. What could not
// be written is tried again at the next flush.
func (o *openFiles) flush() error {
	for len(o.dirty) > 0 {
		e := o.dirty[len(o.dirty)-1]
		if err := e.each((*table).flush); err != nil {
			return err
		}
		e.dirty = false
		o.dirty = o.dirty[:len(o.dirty)-1]
		if e.over {
			if err := o.close(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// shrink closes the files that were used longest ago.
func (o *openFiles) shrink(to int) error {
	if len(o.trials) <= to {
		return nil
	}
	if err := o.flush(); err != nil {
		return err
	}
	for len(o.trials) > to {
		if err := o.close(o.recent.Back().Value.(*entry)); err != nil {
			return err
		}
	}
	return nil
}

func (o *openFiles) close(e *entry) error {
	o.recent.Remove(e.at)
	delete(o.trials, e.trial)
	return e.each((*table).close)
}

func (o *openFiles) closeAll() error {
	var errs []error
	for _, e := range o.trials {
		errs = append(errs, e.each((*table).close))
	}
	clear(o.trials)
	return errors.Join(errs...)
}
