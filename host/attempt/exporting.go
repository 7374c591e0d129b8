package attempt

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// commitExport keeps a model that the trainable left (B-060).
func (t *Driver) commitExport(r *run, format string) {
	m := storage.Manifest{Trial: uint32(r.Trial), Attempt: r.Attempt, Iteration: r.Iteration(), Parent: r.parent()}
	t.saving.Go(func() { t.lockAndApply(r, t.keepExport(r, format, m)) })
}

func (t *Driver) keepExport(r *run, format string, m storage.Manifest) life.ExportMade {
	made := life.ExportMade{Format: format}
	s, over := t.saving.begin(r.Trial, t.Grace)
	defer over()
	err := t.whenRoom(func() (err error) {
		made.Bytes, err = t.Checkpoints.Commit(Item{Place: r.place, Dir: r.dir, Format: format, Saving: s}, m)
		return err
	})
	if err != nil {
		err = cmp.Or(s.Err(), err)
		made.Error, made.GivenUp = err.Error(), givenUp(err)
		return made
	}
	t.Saved(storage.ExportDir(r.dir, format))
	return made
}

// exportFailed returns the record of a failed export. The user is told once for each format,
// since a format that the trainable does not know fails in every trial.
func (t *Driver) exportFailed(r *run, x life.FailExport) *core.ModelExported {
	if x.GivenUp {
		t.Log.Warn(fmt.Sprintf("trial %d: its model as %s is given up: %s", r.Trial, x.Format, x.Error))
	} else {
		t.Log.Once("export "+x.Format,
			fmt.Sprintf("trial %d: its model was not exported as %s: %s; `tunehost trials --json` "+
				"shows the same for other trials", r.Trial, x.Format, x.Error))
	}
	return &core.ModelExported{Trial: r.Trial, Attempt: r.Attempt, Format: x.Format, Error: x.Error,
		GivenUp: x.GivenUp}
}

// clearExports removes models that a run left and that were not kept.
func (t *Driver) clearExports(r *run) {
	t.saving.Go(func() {
		if err := nolink.RemoveAll(storage.NewExports(r.dir)); err != nil {
			t.Log.Warn(errors.Join(errors.New("files left from a trial's export could not be removed"), err).Error())
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.exporting, r.Trial)
		t.apply(r, life.ExportsCleared{})
	})
}
