package files

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/host/view"
)

// Options of a Reporter.
type Options struct {
	// Dir is the experiment's directory.
	Dir string
	// Formats of results; error.txt is always written.
	Formats []Format
	// Now returns the time of day; it determines when to note the position.
	Now func() time.Time
	// Warn is called once with the reason why the files are behind, unless the disk is full, and once for each trial
	// whose files get nothing more; it may be nil.
	Warn func(text string)
	// MaxOpen is how many trials' files stay open; 0: 256.
	MaxOpen int
}

// mayOpen returns how many trials' files may be open: an eighth of what the process may open. As many
// again are open until they are flushed.
func mayOpen(formats int) int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return defaultOpenTrials
	}
	return int(max(1, min(defaultOpenTrials, uint64(l.Cur)/8/uint64(max(1, formats)))))
}

const (
	defaultOpenTrials = 256
	noteEvery         = 15 * time.Second
	// maxBacklogEvents limits what waits for room on a full disk.
	maxBacklogEvents = 200_000
)

// Reporter writes the files of the package. While the disk is full or a permission is missing, it
// keeps events, up to a limit, and writes them later (B-087).
type Reporter struct {
	dir     string
	warn    func(string)
	now     func() time.Time
	sync    func(dir string) error
	open    *openFiles
	naming  naming
	backlog []view.Event
	stuck   bool   // and the user was told
	last    uint64 // written, but perhaps not on disk
	noted   uint64 // in the position file
	noteAt  time.Time
}

var _ report.Reporter = (*Reporter)(nil)

// New makes a Reporter, which touches no file before its first event.
func New(o Options) *Reporter {
	if o.MaxOpen == 0 {
		o.MaxOpen = mayOpen(len(o.Formats))
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	open := newOpenFiles(o.Formats, o.MaxOpen)
	open.warn = o.Warn
	return &Reporter{dir: o.Dir, warn: o.Warn, now: o.Now, sync: syncAll, open: open, noted: Reported(o.Dir),
		noteAt: o.Now().Add(noteEvery)}
}

// Report implements report.Reporter. Events may be repeated.
func (r *Reporter) Report(events []view.Event) error {
	waited := len(r.backlog) > 0
	if waited {
		events = append(r.backlog, copyOf(events)...)
		r.backlog = nil
	}
	done, err := r.take(events)
	if rest := events[done:]; passes(err) && len(rest) <= maxBacklogEvents {
		if !waited {
			rest = copyOf(rest)
		}
		r.backlog = rest
		r.explain(err)
		return nil
	}
	if err != nil {
		return err
	}
	r.stuck = false
	return r.noteSometimes()
}

// explain says once why nothing is written. The host reports a full disk.
func (r *Reporter) explain(err error) {
	if !r.stuck && !noSpace(err) {
		r.stuck = true
		r.warn("results of trials wait to be written until that is allowed again: " + err.Error())
	}
}

// Close writes the remaining data.
func (r *Reporter) Close() error {
	_, err := r.take(r.backlog)
	if err == nil {
		err = r.note()
	}
	return errors.Join(err, r.open.closeAll())
}

// take returns how many events it has written. Rows that wait for room come first, so that their
// number does not grow.
func (r *Reporter) take(events []view.Event) (int, error) {
	if err := r.open.flush(); err != nil {
		return 0, err
	}
	n, err := r.writeAll(events)
	if err == nil {
		err = r.open.flush()
	}
	return n, err
}

// writeAll returns how many events it wrote.
func (r *Reporter) writeAll(events []view.Event) (int, error) {
	for i := range events {
		err := r.write(&events[i])
		if errors.Is(err, fs.ErrNotExist) {
			r.open.lose(events[i].Trial.Number, err)
			err = nil
		}
		if err != nil && !r.open.leave(events[i].Trial.Number, err) {
			return i, err
		}
		r.last = max(r.last, events[i].Number)
	}
	return len(events), nil
}

func (r *Reporter) write(e *view.Event) error {
	if r.open.left[e.Trial.Number] {
		return nil
	}
	if e.Kind == core.SawFailed && e.Trial.Attempt == 0 { // it never had a folder
		return nil
	}
	if why := e.Failure(); why != "" {
		if err := addFailure(e, why); err != nil {
			return err
		}
	}
	switch e.Kind {
	case core.SawStarted:
		if e.Trial.Attempt > 1 {
			return r.change(e, func(t *table) error { return t.cut(e) })
		}
	case core.SawResult:
		f := r.naming.of(e.Result)
		return r.change(e, func(t *table) error { return t.add(e, f) })
	case core.SawCompleted, core.SawRemoved:
		if err := settleParams(e); err != nil {
			return err
		}
		if e.Trial.Attempt > 0 {
			defer r.checkPlace(e.Trial.Number)
			return r.end(e, func(t *table) error { return t.finish(e) })
		}
	case core.SawPaused, core.SawRequeued, core.SawFailed:
		if err := settleParams(e); err != nil {
			return err
		}
		if e.Trial.Attempt > 0 {
			return r.end(e, func(*table) error { return nil })
		}
	}
	return nil
}

// change applies a function to each of the trial's files.
func (r *Reporter) change(e *view.Event, do func(*table) error) error {
	files, err := r.open.of(e.Trial.Number, e.Trial.Dir)
	if err != nil {
		return err
	}
	files.over = false
	return files.each(do)
}

// checkPlace finds out that files of a trial which ends are not in their place. They are open: nothing fails.
func (r *Reporter) checkPlace(no core.TrialNo) {
	if e := r.open.trials[no]; e != nil {
		r.open.lose(no, e.each((*table).lost))
	}
}

// end is change for files that will not be written for a while.
func (r *Reporter) end(e *view.Event, do func(*table) error) error {
	if _, ok := r.open.trials[e.Trial.Number]; !ok && e.Kind != core.SawCompleted && e.Kind != core.SawRemoved {
		return nil
	}
	if err := r.change(e, do); err != nil {
		return err
	}
	r.open.trials[e.Trial.Number].over = true
	return nil
}

func (r *Reporter) noteSometimes() error {
	now := r.now()
	if now.Before(r.noteAt) {
		return nil
	}
	r.noteAt = now.Add(noteEvery)
	if err := r.note(); !passes(err) {
		return err
	}
	return nil
}

// note writes to the position file how far the files are.
func (r *Reporter) note() error {
	if r.last <= r.noted {
		return nil
	}
	if err := r.sync(r.dir); err != nil {
		return err
	}
	err := setReported(r.dir, r.last)
	if err == nil {
		r.noted = r.last
	}
	return err
}

// passes reports whether a retry may succeed.
func passes(err error) bool {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return true
	}
	return noSpace(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// copyOf copies events so that they outlive the call.
func copyOf(events []view.Event) []view.Event {
	events = slices.Clone(events)
	for i := range events {
		e := &events[i]
		e.Trial.Params = slices.Clone(e.Trial.Params)
		if e.Result != nil {
			r := *e.Result
			r.Metrics, r.Totals, r.Values = slices.Clone(r.Metrics), slices.Clone(r.Totals), slices.Clone(r.Values)
			e.Result = &r
		}
	}
	return events
}
