package attempt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage/diskspace"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// listen handles the events of a process until it is gone.
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
				t.handleEvent(r, &events[i])
			}
		}
		t.mu.Unlock()
		t.Inbox.Flush()
	}
}

// handleEvent handles one event of a run.
func (t *Driver) handleEvent(r *run, e *train.Event) {
	if t.Deadline > 0 {
		r.heard = t.Clock.Now()
	}
	if r.IgnoresEvents() && e.Kind != train.Ended {
		return
	}
	switch e.Kind {
	case train.Started:
		t.apply(r, life.Started{PID: e.PID, Waiting: e.Waiting})
	case train.Result:
		t.result(r, sdk.Result{Metrics: e.Metrics, Iteration: e.Iteration, Checkpoint: e.Checkpoint, Done: e.Done,
			Values: t.values(r, e.Values)})
	case train.Saved:
		t.apply(r, life.Saved{Iteration: e.Iteration, Error: errorText(e), Full: diskspace.SaysFull(e.Error)})
		r.saveOver()
	case train.Exported:
		t.apply(r, life.Exported{Format: e.Format, Error: errorText(e)})
	case train.Ended:
		t.apply(r, life.Finished{Error: r.pathsHere(errorText(e)),
			NeverStarted: e.NeverStarted, RestoreFailed: e.RestoreFailed, Full: diskspace.SaysFull(e.Error)})
	case train.Log:
		t.note(r, e.Text, func(text string) { t.heard(r, text, e.Hint) })
	case train.Rejected:
		t.note(r, e.Text, func(text string) { t.rejected(r, text) })
	}
}

// rejected warns of a line of a trial's program that is no report: once, since many may follow.
func (t *Driver) rejected(r *run, text string) {
	name := fmt.Sprintf("trial %d", r.Trial)
	t.Log.Counted("rejected", name, name+": not a report: "+text, func(n int) string {
		return fmt.Sprintf("%d trials sent lines that are no reports; host.log has them", n)
	})
}

// errorText returns the error in an event, with escaped control characters.
func errorText(e *train.Event) string { return untrusted.Text(e.Error, untrusted.MaxText) }

// heard takes a line of its trainable for a trial's log.
func (t *Driver) heard(r *run, text string, hint bool) {
	if hint {
		r.hint = text
	}
	t.logged(r, text, hint)
}

// logged writes a line of a trial's log. A hint is shown to the user once for each kind, or once for each
// trial if it names the trial.
func (t *Driver) logged(r *run, text string, hint bool) {
	name := fmt.Sprintf("trial %d", r.Trial)
	shown := name + ": " + text
	if strings.HasPrefix(text, name+" ") {
		shown = text
	}
	say := t.Log.Once
	if diskspace.SaysFull(text) {
		say = t.Log.InsistOnce
	}
	if hint && say("hint "+untrusted.Unquoted(text), shown) {
		return
	}
	t.Log.Info(text, "trial", r.Trial)
}

// values returns the values of a result beside its metrics, or nil if they cannot be stored.
func (t *Driver) values(r *run, values []byte) []byte {
	if len(values) == 0 {
		return nil
	}
	var object map[string]json.RawMessage
	if len(values) > sdk.MaxValues || json.Unmarshal(values, &object) != nil {
		t.Log.Once("values", fmt.Sprintf("trial %d: the values beside the metrics are not stored: expected a JSON "+
			"object of at most %d bytes",
			r.Trial, sdk.MaxValues))
		return nil
	}
	var line bytes.Buffer
	_ = json.Compact(&line, values) // it was read
	return line.Bytes()
}

// note writes a line of a run to the log, unless its process exceeds its rate.
func (t *Driver) note(r *run, text string, write func(string)) {
	text = r.pathsHere(untrusted.Line(text, untrusted.MaxText))
	rate := &r.worker.rate
	if !rate.Take(len(text), t.Clock.Now()) {
		return
	}
	dropped, first := rate.Dropped()
	if first {
		t.Log.Warn(fmt.Sprintf("trial %d: %s", r.Trial, untrusted.Flooding))
	}
	if dropped != "" {
		t.Log.Info(dropped, "trial", r.Trial)
	}
	write(text)
}

// maxMetricNames limits the number of different metrics of all trials: each name is kept until the
// experiment ends.
const maxMetricNames = 2 * sdk.MaxMetrics

// result posts a valid result. An invalid one fails the trial.
func (t *Driver) result(r *run, x sdk.Result) {
	t.unable.begins(r)
	err := r.Take(&x)
	if err == nil {
		err = t.nameAll(x.Metrics)
	}
	if err != nil {
		t.apply(r, life.InvalidReport{Cause: core.Cause{Kind: core.CauseInvalidReport, Text: err.Error()}})
		return
	}
	t.Inbox.PutResult(&inbox.Result{Trial: r.Trial, Attempt: r.Attempt, Result: x})
}

func (t *Driver) nameAll(list []sdk.Metric) error {
	for i := range list {
		if name := list[i].Name; !t.names[name] {
			if len(t.names) >= maxMetricNames {
				return fmt.Errorf("metric %q is one more than the %d different ones that an experiment may have", name,
					maxMetricNames)
			}
			t.names[name] = true
		}
	}
	return nil
}

// lost handles the end of a process, once all that belonged to it has ended too.
func (t *Driver) lost(w *worker, err error) {
	_ = w.trainer.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(w)
	if errors.Is(err, io.EOF) && len(w.runs) == 0 {
		return
	}
	w.lost = err
	// A node that cannot be reached is no failure of its trials.
	doomed := w.doomed || plugin.FailureOf(err) == plugin.Unreachable
	for _, r := range w.runs {
		t.apply(r, life.ProcessLost{Error: err.Error(), LastOutput: withLastLine("", r.stderrFile(), r.Attempt),
			NeverStarted: plugin.FailureOf(err) == plugin.NotStarted, Short: diskspace.IsShort(err), Doomed: doomed})
	}
}

// forget removes a process from all lists.
func (t *Driver) forget(w *worker) {
	delete(t.workers, w)
	if t.common[t.group(w.place)] == w {
		delete(t.common, t.group(w.place))
	}
	t.idle = slices.DeleteFunc(t.idle, func(x *worker) bool { return x == w })
}
