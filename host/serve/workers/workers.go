// Package workers hands out the trials of an experiment to workers anywhere, by ask and tell. A worker has
// a trial on a lease that ends unless the worker reports in time; then another worker gets the trial.
//
// A lease is an attempt of the trial. What is reported with an attempt that is over is refused, so that nothing
// counts twice. A report that is repeated, because its answer was lost, is answered again and not recorded
// again. What a worker says is carried out to its end even if its connection breaks in between: a plugin that is
// interrupted in its answer is not asked again.
//
// When the server has been restarted, a worker that reports continues on its lease; nobody else gets its trial before
// the lease would have ended.
package workers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/asktell"
	"github.com/tunehost/tunehost/host/steer"
)

// Lengths of leases.
const (
	Shortest = time.Second
	Usual    = time.Minute
	Longest  = 24 * time.Hour
)

// Workers has the workers of one experiment. It is safe for concurrent use.
type Workers struct {
	mu      sync.Mutex
	session *asktell.Session
	now     func() time.Time
	leases  map[core.TrialNo]*lease
	// spare are trials that the engine has handed out and no worker has.
	spare map[core.TrialNo]asktell.Trial
	// kept are the leases that workers had when an earlier server ended.
	kept    map[core.TrialNo]held
	lengths *lengths
	over    bool
	deaf    func() // ends [Workers.Listen]
}

// held is a lease of an earlier server.
type held struct {
	attempt uint32
	length  time.Duration
	until   time.Time
}

// lease is a worker's right to train a trial.
type lease struct {
	attempts []uint32 // the last is the present one; the worker may know it by an earlier one
	length   time.Duration
	until    time.Time
}

// New returns the workers of a session, which it owns.
func New(s *asktell.Session, now func() time.Time) *Workers {
	w := &Workers{session: s, now: now, leases: map[core.TrialNo]*lease{}, spare: map[core.TrialNo]asktell.Trial{},
		kept: map[core.TrialNo]held{}, lengths: readLengths(s.Dir().Path()), deaf: func() {}}
	for no, attempt := range s.Before {
		if length := w.lengths.of(no); length != 0 {
			w.kept[no] = held{attempt, length, now().Add(length)}
		}
	}
	return w
}

// Assignment is a trial on a lease.
type Assignment struct {
	asktell.Trial
	Attempt uint32
	Lease   time.Duration
}

// Ask returns a trial, or [asktell.Wait] or [asktell.Finished].
func (w *Workers) Ask(ctx context.Context, length time.Duration) (Assignment, asktell.Word, error) {
	ctx = context.WithoutCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over && w.session.Ended() != 0:
		return Assignment{}, asktell.Finished, nil
	case w.over:
		return Assignment{}, "", ErrClosed
	}
	if err := w.expire(ctx); err != nil {
		return Assignment{}, "", err
	}
	if length != Usual && !w.lengths.hasAll() {
		// A server that is killed before it has stored this one would take it for one of the usual length.
		if err := w.lengths.setAll(w.held()); err != nil {
			return Assignment{}, "", err
		}
	}
	for no, t := range w.spare {
		if _, kept := w.kept[no]; !kept {
			g, err := w.give(no, t, length)
			return g, "", err
		}
	}
	for {
		no, t, word, err := w.next(ctx)
		if err != nil || word != "" {
			return Assignment{}, word, err
		}
		if _, kept := w.kept[no]; !kept {
			g, err := w.give(no, t, length)
			return g, "", err
		}
	}
}

// held returns the lengths of the leases that workers have, or may have from an earlier server.
func (w *Workers) held() map[core.TrialNo]time.Duration {
	all := map[core.TrialNo]time.Duration{}
	for no, x := range w.kept {
		all[no] = x.length
	}
	for no, l := range w.leases {
		all[no] = l.length
	}
	return all
}

// next is one more trial of the engine, which is spare until somebody has it.
func (w *Workers) next(ctx context.Context) (core.TrialNo, asktell.Trial, asktell.Word, error) {
	a, err := w.session.Handle(ctx, asktell.Request{Kind: asktell.Ask})
	switch a := a.(type) {
	case asktell.Trial:
		w.spare[core.TrialNo(a.Number)] = a
		return core.TrialNo(a.Number), a, "", err
	case asktell.Word:
		return 0, asktell.Trial{}, a, err
	}
	return 0, asktell.Trial{}, "", err
}

func (w *Workers) give(no core.TrialNo, t asktell.Trial, length time.Duration) (Assignment, error) {
	if err := w.lengths.set(no, length); err != nil {
		return Assignment{}, err // it stays spare
	}
	delete(w.spare, no)
	v, _ := w.session.View(no)
	w.leases[no] = &lease{[]uint32{v.Attempt}, length, w.now().Add(length)}
	return Assignment{t, v.Attempt, length}, nil
}

// ErrClosed is the answer to who speaks with workers that were closed.
var ErrClosed = errors.New("the experiment is just being saved: try again in a moment")

// GoneError says that a worker's lease is over.
type GoneError struct{ text string }

func (e *GoneError) Error() string { return e.text }

// NoTrialError says that there is no such trial.
type NoTrialError struct{ error }

// Report handles a result and returns the decision, and the attempt that the lease has now.
func (w *Workers) Report(ctx context.Context, s Message) (asktell.Decision, uint32, error) {
	ctx = context.WithoutCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	no, l, err := w.leaseOf(ctx, s)
	if err != nil {
		return "", 0, err
	}
	v, inHand := w.session.View(no)
	if l == nil || !inHand {
		d, err := w.repeated(no, v, s)
		return d, v.Attempt, err
	}
	if s.Iteration != 0 && s.Iteration <= v.At {
		return asktell.Continue, v.Attempt, nil
	}
	if s.Iteration == 0 {
		s.Iteration = v.At + 1
	}
	a, err := w.session.Handle(ctx, asktell.Request{Kind: asktell.Report, Trial: name(no), Metrics: s.Metrics,
		Iteration: s.Iteration})
	w.settle(no)
	d, _ := a.(asktell.Decision)
	return d, v.Attempt, err
}

// repeated answers a report of an attempt that is over: the answer to it was lost.
func (w *Workers) repeated(no core.TrialNo, v core.View, s Message) (asktell.Decision, error) {
	known := v.Attempt == s.Attempt && s.Iteration != 0 && s.Iteration <= v.At
	switch {
	case known && v.State.Final():
		return asktell.Stop, nil
	case known && v.State == core.Paused:
		return asktell.Pause, nil
	}
	return "", w.gone(no, v, s.Attempt)
}

// gone says why what was said with an attempt does not count.
func (w *Workers) gone(no core.TrialNo, v core.View, attempt uint32) error {
	title := w.session.TrialName(no)
	switch {
	case v.State.Final():
		return &GoneError{fmt.Sprintf("%s has ended: %s", title, v.Cause)}
	case v.Attempt == 0:
		return &GoneError{title + " has not begun: ask for a trial"}
	case attempt == 0 || attempt > v.Attempt:
		return &GoneError{fmt.Sprintf("%s has had no attempt %d: its attempt is %d", title, attempt, v.Attempt)}
	}
	why, cause := "its lease has ended", v.Cause.Kind
	switch {
	case cause == core.CauseSilent:
	case w.session.Interrupted():
		why = "the experiment is interrupted"
	case v.State == core.Paused && cause != 0:
		why = v.Cause.String()
	}
	return &GoneError{title + " was taken back, because " + why + ": ask for another trial"}
}

// Tell handles the end of a trial; ignored is why its metrics do not count, or "".
func (w *Workers) Tell(ctx context.Context, s Message) (ignored string, err error) {
	ctx = context.WithoutCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	no, l, err := w.leaseOf(ctx, s)
	if err != nil {
		return "", err
	}
	v, inHand := w.session.View(no)
	if l == nil || !inHand {
		if v.Attempt == s.Attempt && v.State.Final() && (s.Iteration <= v.At || len(s.Metrics) == 0) {
			return w.toldBefore(no, v, s), nil
		}
		return "", w.gone(no, v, s.Attempt)
	}
	a, err := w.session.Handle(ctx, asktell.Request{Kind: asktell.Tell, Trial: name(no), Metrics: s.Metrics,
		Iteration: s.Iteration, Failed: s.Failed})
	w.settle(no)
	told, _ := a.(asktell.Receipt)
	return told.Ignored, err
}

// toldBefore answers a tell of a trial that has ended: the answer to the first tell may have been lost. It returns why
// this one is ignored if it says another end, or another last result.
func (w *Workers) toldBefore(no core.TrialNo, v core.View, s Message) (ignored string) {
	if (s.Failed != "") == (v.State == core.Errored) && !w.session.News(no, s.Metrics) {
		return ""
	}
	return fmt.Sprintf("%s has ended before: %s", w.session.TrialName(no), v.Cause)
}

func name(no core.TrialNo) asktell.Name {
	return asktell.Name{Text: strconv.FormatUint(uint64(no), 10), Number: true}
}

// leaseOf returns the lease with which a worker speaks, extended; nil: it is over.
func (w *Workers) leaseOf(ctx context.Context, s Message) (core.TrialNo, *lease, error) {
	if w.over {
		return 0, nil, ErrClosed
	}
	if err := w.expire(ctx); err != nil {
		return 0, nil, err
	}
	no, err := w.session.Find(s.Trial)
	if err != nil {
		return 0, nil, &NoTrialError{err}
	}
	if before, ok := w.kept[no]; ok && before.attempt == s.Attempt {
		if err := w.readopt(ctx, no, before); err != nil {
			return 0, nil, err
		}
	}
	l := w.leases[no]
	if l == nil || !slices.Contains(l.attempts, s.Attempt) {
		return no, nil, nil
	}
	l.until = w.now().Add(l.length)
	return no, l, nil
}

// readopt gives a trial back to the worker that had it under an earlier server.
func (w *Workers) readopt(ctx context.Context, no core.TrialNo, before held) error {
	for {
		if _, ok := w.spare[no]; ok {
			break
		}
		_, _, word, err := w.next(ctx)
		if err != nil {
			return err
		}
		if word != "" { // it does not continue
			delete(w.kept, no)
			return nil
		}
	}
	delete(w.kept, no)
	delete(w.spare, no)
	v, _ := w.session.View(no)
	w.leases[no] = &lease{[]uint32{before.attempt, v.Attempt}, before.length, w.now().Add(before.length)}
	return nil
}

// settle forgets the lease of a trial that the worker does not have any more.
func (w *Workers) settle(no core.TrialNo) {
	if _, inHand := w.session.View(no); !inHand {
		delete(w.leases, no)
		_ = w.lengths.set(no, 0) // a length too many does no harm
	}
}

// Tick does what is due: it takes trials back whose leases have ended. It returns whether the experiment has ended.
// While a request is carried out it does nothing: a plugin may take long, and the request does what is due, too.
func (w *Workers) Tick(ctx context.Context) (ended bool, err error) {
	if !w.mu.TryLock() {
		return false, nil
	}
	defer w.mu.Unlock()
	if w.over {
		return true, nil
	}
	if err := w.expire(ctx); err != nil {
		return false, err
	}
	err = w.session.Tick(ctx)
	return w.session.Ended() != 0, err
}

func (w *Workers) expire(ctx context.Context) error {
	now := w.now()
	for no, x := range w.kept {
		if now.After(x.until) {
			delete(w.kept, no)
			if err := w.takeBack(ctx, no, x.length); err != nil {
				return err
			}
		}
	}
	for no, l := range w.leases {
		if now.After(l.until) {
			delete(w.leases, no)
			if err := w.takeBack(ctx, no, l.length); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeBack has a trial wait whose lease has ended.
func (w *Workers) takeBack(ctx context.Context, no core.TrialNo, length time.Duration) error {
	delete(w.spare, no)
	_ = w.lengths.set(no, 0) // a length too many does no harm
	return w.session.TakeBack(ctx, no, length)
}

// Do implements steer.Handler.
func (w *Workers) Do(r steer.Request) (steer.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return steer.Answer{}, &steer.BusyError{What: ErrClosed.Error()}
	}
	return w.session.Steer().Do(r)
}

// Close saves the experiment.
func (w *Workers) Close() error {
	w.deaf() // while the directory is locked; who has asked is answered
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return nil
	}
	w.over = true
	if s := w.session.Ended(); s == 0 || s == core.InterruptedByUser {
		_ = w.lengths.setAll(w.held()) // without it, the next server waits for workers that there are not
	}
	return w.session.Close()
}
