package training

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// exports are a run's models on their way (B-060). Each format that the file asks
// for has one answer in the record; all come before the run's end.
type exports struct {
	answered []string
	// making is closed when those that were announced so far are made.
	making []chan struct{}
	// after are events that are told after the run's end.
	after []core.Event
}

// exported takes over a model that the trainable says it has left.
func (t *Driver) exported(r *run, e *train.Event) {
	if !slices.Contains(r.start.Export, e.Format) || slices.Contains(r.exports.answered, e.Format) {
		return
	}
	r.exports.answered = append(r.exports.answered, e.Format)
	if e.Error != "" {
		t.Inbox.Post(t.unexported(r, e.Format, untrusted.Text(e.Error, untrusted.MaxText)))
		return
	}
	made := make(chan struct{})
	r.exports.making = append(r.exports.making, made)
	m := storage.Manifest{Trial: uint32(r.trial), Attempt: r.attempt, Iteration: r.iteration, Parent: r.parent()}
	t.saving.Go(func() {
		defer close(made)
		t.Inbox.Post(t.keepExport(r, e.Format, m))
	})
}

func (t *Driver) keepExport(r *run, format string, m storage.Manifest) *core.ModelExported {
	var bytes int64
	err := t.whenRoom(func() (err error) {
		bytes, err = t.Storage.CommitExport(r.dir, format, m)
		return err
	})
	if err != nil {
		return t.unexported(r, format, err.Error())
	}
	t.Saved(storage.ExportDir(r.dir, format))
	return &core.ModelExported{Trial: r.trial, Attempt: r.attempt, Format: format, Bytes: bytes}
}

// unexported is an error in the trial's record, and said once for each format: a
// format that a trainable does not know is in every trial's.
func (t *Driver) unexported(r *run, format, why string) *core.ModelExported {
	t.Log.Once("export "+format, fmt.Sprintf("trial %d: its model was not exported as %s: %s; further trials of which this is true are in `tunehost trials --json`", r.trial, format, why))
	return &core.ModelExported{Trial: r.trial, Attempt: r.attempt, Format: format, Error: why}
}

// unanswered are the formats that a run which has ended well said nothing of.
func (t *Driver) unanswered(r *run) (events []core.Event) {
	for _, format := range r.start.Export {
		if !slices.Contains(r.exports.answered, format) {
			events = append(events, t.unexported(r, format, sdk.ErrUnknownFormat.Error()))
		}
	}
	return events
}

// endsWell says whether a run that has ended as told or by itself was to leave
// its model.
func (r *run) endsWell(end *core.AttemptEnded) bool {
	return len(r.start.Export) > 0 && r.begun && !r.pausing && end.Cause.Kind == core.CauseNone && !end.NeverStarted
}

// postAfterExports posts a run's last events once its models are made. It needs
// the lock.
func (t *Driver) postAfterExports(r *run, events []core.Event) {
	if len(r.start.Export) == 0 || t.closed { // the next host runs it again
		t.Inbox.Post(events...)
		return
	}
	t.exporting[r.trial] = r
	t.saving.Go(func() {
		for _, made := range r.exports.making {
			<-made
		}
		if err := nolink.RemoveAll(storage.NewExports(r.dir)); err != nil {
			t.Log.Warn(errors.Join(errors.New("what was left of a trial's export could not be removed"), err).Error())
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.exporting, r.trial)
		t.Inbox.Post(append(events, r.exports.after...)...)
	})
}
