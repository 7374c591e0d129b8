package host

import (
	"errors"
	"fmt"
	"io"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// listen takes in what a process says until it is gone.
func (t *training) listen(w *worker) {
	for {
		events, err := w.trainer.Recv()
		if err != nil {
			t.lost(w, err)
			return
		}
		t.mu.Lock()
		for i := range events {
			if r := w.runs[events[i].Run]; r != nil {
				t.heard(r, &events[i])
			}
		}
		t.mu.Unlock()
	}
}

// heard carries one event of a run to the inbox.
func (t *training) heard(r *run, e *train.Event) {
	if t.deadline > 0 {
		r.heard = t.clock.Now()
	}
	switch e.Kind {
	case train.Started:
		t.inbox.post(&core.AttemptStarted{Trial: r.trial, Attempt: r.attempt, PID: e.PID})
	case train.Result:
		t.inbox.postResult(&result{r.trial, r.attempt, sdk.Result{
			Metrics: e.Metrics, Iteration: e.Iteration, Checkpoint: e.Checkpoint, Done: e.Done}})
	case train.Saved:
		t.saved(r, e)
	case train.Ended:
		t.ended(r, e)
	case train.Log:
		t.log.Info(e.Text, "trial", r.trial)
	case train.Rejected:
		t.log.Warn(fmt.Sprintf("trial %d: not a report: %s", r.trial, e.Text))
	}
}

// saved commits what the trainable has written.
func (t *training) saved(r *run, e *train.Event) {
	if len(r.saves) == 0 {
		return
	}
	s := r.saves[0]
	r.saves = r.saves[1:]
	if toldNoSpace(e.Error) && r.timer == nil {
		go t.resave(r, s, e.Error)
		return
	}
	if e.Error != "" {
		t.unsaved(r.trial, r.attempt, s.id, errors.New(e.Error))
		return
	}
	if e.Iteration != 0 {
		s.iteration = e.Iteration
	}
	t.commit(r.dir, r.trial, r.attempt, s.id, s.iteration, func() error { return nil })
}

// ended is a run's last word. Its process is kept for the next trial, or let go.
func (t *training) ended(r *run, e *train.Event) {
	w := r.worker
	told := r.timer != nil
	end := &core.AttemptEnded{Error: e.Error, NeverStarted: e.NeverStarted, RestoreFailed: e.RestoreFailed}
	if told {
		end.Error = "" // however a trial ends that was told to
	}
	t.endRun(r, end)
	switch {
	case t.shared:
	case t.reuse && len(w.devices) == 0 && !r.killed && end.Error == "":
		t.idle = append(t.idle, w)
	default:
		t.retire(w)
	}
}

// endRun tells of the end, and of the saves that will not come any more.
func (t *training) endRun(r *run, end *core.AttemptEnded) {
	end.Trial, end.Attempt = r.trial, r.attempt
	if r.timer != nil {
		r.timer()
	}
	if r.worker != nil {
		delete(r.worker.runs, r.number)
	}
	if t.runs[r.trial] == r {
		delete(t.runs, r.trial)
	}
	events := []core.Event{end}
	for _, s := range r.saves {
		events = append(events, &core.SaveFailed{Trial: r.trial, Attempt: r.attempt, ID: s.id, Error: "the trainable had ended"})
	}
	r.saves = nil
	t.inbox.post(events...)
}

// over is endRun for those who do not hold the lock.
func (t *training) over(r *run, end *core.AttemptEnded) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endRun(r, end)
}

// retire lets a process go.
func (t *training) retire(w *worker) {
	delete(t.workers, w)
	t.leaving.Go(func() { _ = w.trainer.Close() })
}

// lost ends every run of a process that has failed, when nothing of it is left.
func (t *training) lost(w *worker, err error) {
	_ = w.trainer.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.workers, w)
	if t.common == w {
		t.common = nil
	}
	for i, x := range t.idle {
		if x == w {
			t.idle = append(t.idle[:i], t.idle[i+1:]...)
			break
		}
	}
	if errors.Is(err, io.EOF) && len(w.runs) == 0 {
		return
	}
	for _, r := range w.runs {
		end := r.end
		if end == nil {
			end = &core.AttemptEnded{Error: err.Error(), NeverStarted: plugin.FailureOf(err) == plugin.NotStarted}
		}
		t.endRun(r, end)
	}
}
