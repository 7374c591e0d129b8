package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// entry is a trial that reports: the content of its files is known, whether they are open or not.
type entry struct {
	trial  core.TrialNo
	dir    string
	tables []*table
	dirty  bool // must be flushed
	over   bool // no row is expected soon
	held   bool // its files stay open
}

func (e *entry) each(do func(*table) error) error {
	for _, t := range e.tables {
		if err := do(t); err != nil {
			return err
		}
	}
	return nil
}

// openFiles are the files of the reporting trials. Those of at most max trials stay open, and of as
// many more until they are flushed.
type openFiles struct {
	formats []Format
	max     int
	writeAt writer
	trials  map[core.TrialNo]*entry
	held    int
	dirty   []*entry
	// left are the trials whose files get nothing more, see leave.
	left map[core.TrialNo]bool
	warn func(string)
	told bool // that lines of others were moved
}

func newOpenFiles(formats []Format, max int) *openFiles {
	return &openFiles{formats: formats, max: max, writeAt: (*os.File).WriteAt, trials: map[core.TrialNo]*entry{},
		left: map[core.TrialNo]bool{}, warn: func(string) {}}
}

// of returns the trial's entry, to be flushed at the end of the batch.
func (o *openFiles) of(no core.TrialNo, dir string) (*entry, error) {
	if err := o.closeTrial(no, dir); err != nil {
		return nil, err
	}
	e, ok := o.trials[no]
	if ok && e.dirty {
		return e, nil
	}
	if len(o.dirty) >= o.max {
		if err := o.flush(); err != nil {
			return nil, err
		}
	}
	if e = o.trials[no]; e == nil {
		e = &entry{trial: no, dir: dir}
		for _, format := range o.formats {
			t, err := openTable(dir, format, o.writeAt, o.mended)
			if err != nil {
				return nil, errors.Join(err, e.each((*table).close))
			}
			e.tables = append(e.tables, t)
		}
		o.trials[no] = e
	}
	e.dirty = true
	o.dirty = append(o.dirty, e)
	return e, nil
}

// closeTrial closes the files of a trial that continues in another directory.
func (o *openFiles) closeTrial(no core.TrialNo, dir string) error {
	e, ok := o.trials[no]
	if !ok || e.dir == dir {
		return nil
	}
	e.over = true
	if e.dirty {
		return o.flush()
	}
	return o.settle(e)
}

// flush writes the added rows. What could not be written is retried at the next flush.
func (o *openFiles) flush() error {
	for len(o.dirty) > 0 {
		e := o.dirty[len(o.dirty)-1]
		if err := e.each((*table).flush); err != nil && !o.leave(e.trial, err) {
			return err
		}
		e.dirty, e.over = false, e.over || o.left[e.trial]
		o.dirty = o.dirty[:len(o.dirty)-1]
		if err := o.settle(e); err != nil {
			return err
		}
	}
	return nil
}

// leave gives up the files of a trial if something is in their place, such as a link or a huge file, or in that of the
// trial's directory, such as a file, and reports whether that is so: other trials have nothing to do with it.
func (o *openFiles) leave(no core.TrialNo, err error) bool {
	if !taken(err) {
		return false
	}
	if !o.left[no] {
		o.left[no] = true
		o.warn(fmt.Sprintf("the files of trial %d get no more results: %v", no, err))
	}
	return true
}

// mended says once that a file had lines of others.
func (o *openFiles) mended(from, to string) {
	if !o.told {
		o.told = true
		o.warn(fmt.Sprintf("%s had lines that tunehost has not written, or twice: they are in %s now, and those of "+
			"other trials in files beside theirs", from, filepath.Base(to)))
	}
}

// taken reports whether an error is about what a program has put in the place of a file or folder.
func taken(err error) bool {
	_, other := errors.AsType[*nolink.Error](err)
	_, large := errors.AsType[*nolink.TooLargeError](err)
	return other || large || errors.Is(err, syscall.ENOTDIR)
}

// lose says once that files of a trial are lost, which nobody would notice else.
func (o *openFiles) lose(no core.TrialNo, err error) {
	if err != nil && !o.left[no] {
		o.left[no] = true
		o.warn(fmt.Sprintf("files of trial %d are lost, and get no more results: %v; the record has all of them", no,
			err))
	}
}

// settle closes the files of a trial that is over, or if enough others stay open.
func (o *openFiles) settle(e *entry) error {
	if e.over {
		delete(o.trials, e.trial)
		if e.held {
			o.held--
		}
		return e.each((*table).close)
	}
	if !e.held && o.held < o.max {
		e.held = true
		o.held++
	}
	if !e.held {
		return e.each((*table).close)
	}
	return nil
}

func (o *openFiles) closeAll() error {
	var errs []error
	for _, e := range o.trials {
		errs = append(errs, e.each((*table).close))
	}
	clear(o.trials)
	return errors.Join(errs...)
}
