package training

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/diskspace"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// listen takes in what a process says until it is gone.
func (t *Driver) listen(w *worker) {
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
func (t *Driver) heard(r *run, e *train.Event) {
	if t.Deadline > 0 {
		r.heard = t.Clock.Now()
	}
	if r.nonsense.Kind != core.CauseNone && e.Kind != train.Ended {
		return
	}
	switch e.Kind {
	case train.Started:
		r.onTime()
		if r.waiting = e.Waiting; r.waiting {
			return
		}
		r.begun = true
		t.Inbox.Post(&core.AttemptStarted{Trial: r.trial, Attempt: r.attempt, PID: e.PID})
	case train.Result:
		t.result(r, sdk.Result{Metrics: e.Metrics, Iteration: e.Iteration, Checkpoint: e.Checkpoint, Done: e.Done, Values: t.values(r, e.Values)})
	case train.Saved:
		t.saved(r, e)
	case train.Exported:
		t.exported(r, e)
	case train.Ended:
		t.ended(r, e)
	case train.Log:
		t.note(r, e.Text, func(text string) { t.logged(r, text, e.Hint) })
	case train.Rejected:
		t.note(r, e.Text, func(text string) { t.Log.Warn(fmt.Sprintf("trial %d: not a report: %s", r.trial, text)) })
	}
}

// logged writes a line of a trial's log; of a hint the user hears once, or once for each trial
// where it names the trial itself.
func (t *Driver) logged(r *run, text string, hint bool) {
	name := fmt.Sprintf("trial %d", r.trial)
	shown := name + ": " + text
	if strings.HasPrefix(text, name+" ") {
		shown = text
	}
	if hint && t.Log.Once("hint "+text, shown) {
		return
	}
	t.Log.Info(text, "trial", r.trial)
}

// values are what a result has beside its metrics, if they can be kept.
func (t *Driver) values(r *run, values []byte) []byte {
	if len(values) == 0 {
		return nil
	}
	var object map[string]json.RawMessage
	if len(values) > sdk.MaxValues || json.Unmarshal(values, &object) != nil {
		t.Log.Once("values", fmt.Sprintf("trial %d: what is reported beside the metrics is left out: expected a JSON object of at most %d bytes",
			r.trial, sdk.MaxValues))
		return nil
	}
	var line bytes.Buffer
	_ = json.Compact(&line, values) // it was read
	return line.Bytes()
}

// note writes a line of a run's to the log, within its process's rate.
func (t *Driver) note(r *run, text string, write func(string)) {
	text = untrusted.Line(text, untrusted.MaxText)
	rate := &r.worker.rate
	if !rate.Take(len(text), t.Clock.Now()) {
		return
	}
	if dropped := rate.Dropped(); dropped != "" {
		t.Log.Warn(dropped, "trial", r.trial)
	}
	write(text)
}

// maxMetricNames is how many metrics all trials together may have: each is kept
// for the experiment's life.
const maxMetricNames = 2 * sdk.MaxMetrics

// result takes in a result that makes sense, and fails a trial whose does not.
func (t *Driver) result(r *run, x sdk.Result) {
	err := r.Take(&x)
	if err == nil {
		err = t.nameAll(x.Metrics)
	}
	if err != nil {
		t.refuse(r, core.Cause{Kind: core.CauseNonsense, Text: err.Error()})
		return
	}
	t.Inbox.PostResult(&inbox.Result{Trial: r.trial, Attempt: r.attempt, Result: x})
}

func (t *Driver) nameAll(list []sdk.Metric) error {
	for i := range list {
		if name := list[i].Name; !t.names[name] {
			if len(t.names) >= maxMetricNames {
				return fmt.Errorf("metric %q is one more than the %d different ones that an experiment may have", name, maxMetricNames)
			}
			t.names[name] = true
		}
	}
	return nil
}

// refuse fails a run that talks nonsense (B-070): it is stopped, and nothing that
// it says until then is heard.
func (t *Driver) refuse(r *run, why core.Cause) {
	r.nonsense = why
	_ = r.worker.trainer.Send([]train.Command{{Kind: train.Stop, Run: r.number}}) // a failed process says so itself
	if r.timer == nil {
		r.timer = t.Clock.AfterFunc(t.Grace, func() { t.kill(r) })
	}
}

// saved commits what the trainable has written.
func (t *Driver) saved(r *run, e *train.Event) {
	if len(r.saves) == 0 {
		return
	}
	s := r.saves[0]
	r.saves = r.saves[1:]
	if diskspace.SaysFull(e.Error) && r.timer == nil && !s.memory {
		go t.resave(r, s, e.Error)
		return
	}
	if e.Error != "" {
		t.unheld(r.trial, s)
		t.unsaved(r.trial, r.attempt, s.id, errors.New(untrusted.Text(e.Error, untrusted.MaxText)))
		return
	}
	if e.Iteration > r.iteration {
		t.unheld(r.trial, s)
		t.unsaved(r.trial, r.attempt, s.id, fmt.Errorf("it says that it has saved iteration %d, which it has not reported", e.Iteration))
		return
	}
	if e.Iteration != 0 {
		s.iteration = e.Iteration
	}
	if s.memory {
		t.hold(r, s)
		return
	}
	m := storage.Manifest{Trial: uint32(r.trial), Attempt: r.attempt, Iteration: s.iteration, Parent: r.parent()}
	t.commit(r.dir, s.id, m, func() error { return storage.Finish(r.dir, s.id, m) })
}

// ended is a run's last word. Its process is kept for the next trial, or let go.
func (t *Driver) ended(r *run, e *train.Event) {
	w := r.worker
	if e.NeverStarted && r.reported == 0 && t.renew(r, untrusted.Text(e.Error, untrusted.MaxText)) {
		t.retire(w)
		return
	}
	told := r.timer != nil
	end := &core.AttemptEnded{Cause: core.TrainableFailure(untrusted.Text(e.Error, untrusted.MaxText)),
		NeverStarted: e.NeverStarted, RestoreFailed: e.RestoreFailed}
	if told {
		end.Cause = core.Cause{} // however a trial ends that was told to
	}
	t.endRun(r, end)
	switch {
	case t.Shared:
	case t.reusable(w) && !r.killed && end.Cause.Kind == core.CauseNone:
		t.idle = append(t.idle, w)
	default:
		t.retire(w)
	}
}

// homeless stops everything where the folder of all trials is gone, in which no attempt
// can do well: none has failed of its own. It says whether it does.
func (t *Driver) homeless() bool {
	err := t.Storage.Check()
	if err != nil {
		t.Fail(fmt.Errorf("no trial can go on, and everything is stopped: %w", err))
	}
	return err != nil
}

// endRun tells of the end, and of the saves that will not come any more.
func (t *Driver) endRun(r *run, end *core.AttemptEnded) {
	if end.Cause.Kind != core.CauseNone && t.homeless() {
		end = &core.AttemptEnded{Interrupted: true}
	}
	end.Trial, end.Attempt = r.trial, r.attempt
	if r.nonsense.Kind != core.CauseNone {
		end.Cause, end.NeverStarted, end.RestoreFailed = r.nonsense, false, false
	}
	if r.timer != nil {
		r.timer()
	}
	r.onTime()
	if r.worker != nil {
		delete(r.worker.runs, r.number)
	}
	if t.runs[r.trial] == r {
		delete(t.runs, r.trial)
	}
	t.unfetch(r)
	var events []core.Event
	if r.endsWell(end) {
		events = t.unanswered(r)
	}
	events = append(events, end)
	for _, s := range r.saves {
		t.unheld(r.trial, s)
		events = append(events, &core.SaveFailed{Trial: r.trial, Attempt: r.attempt, ID: s.id, Error: "the trainable had ended"})
	}
	r.saves = nil
	t.postAfterExports(r, events)
}

// retire lets a process go.
func (t *Driver) retire(w *worker) {
	delete(t.workers, w)
	t.leaving.Go(func() { _ = w.trainer.Close() })
}

// lost ends every run of a process that has failed, when nothing of it is left.
func (t *Driver) lost(w *worker, err error) {
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
		if r.end == nil && !r.begun && t.renew(r, err.Error()) {
			continue
		}
		if r.end == nil && !r.begun && diskspace.IsShort(err) && t.retry(r, err) {
			continue
		}
		end := r.end
		if end == nil && w.doomed {
			end = &core.AttemptEnded{Interrupted: true}
		}
		if end == nil {
			end = &core.AttemptEnded{Cause: core.TrainableFailure(lastWords(err.Error(), r.stderrFile(), r.attempt)),
				NeverStarted: plugin.FailureOf(err) == plugin.NotStarted}
		}
		t.endRun(r, end)
	}
}
