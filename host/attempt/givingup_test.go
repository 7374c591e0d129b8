package attempt

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// endless never completes a checkpoint.
type endless struct{ SharedFiles }

func (endless) Commit(x Item, _ storage.Manifest) (int64, error) {
	over := make(chan struct{})
	x.Saving.AtEnd(func() { close(over) })
	<-over
	return 0, x.Saving.Err()
}

// A host that is told to end gives up a checkpoint that does not get on within the grace, whether it began before or
// after that, and removes what is left of it.
func TestEndlessSave(t *testing.T) {
	for how, late := range map[string]bool{"begun before": false, "begun after": true} {
		t.Run(how, func(t *testing.T) {
			x, _ := trains(t, clock.System{}, func(o *Options) {
				o.Grace = time.Millisecond
				o.Checkpoints = endless{SharedFiles{Storage: o.Storage}}
			})
			dir := x.Storage.Trial("0")
			if err := os.Mkdir(filepath.Join(dir, "made"), 0o700); err != nil {
				t.Fatal(err)
			}
			if late {
				x.Leave()
			}
			x.Put(Work{Action: core.TakeCheckpoint{Attempt: 1, ID: 1, Iteration: 1, Path: "made"}, Dir: dir})
			x.Flush()
			if !late {
				staged := storage.Staged(dir, 1)
				testplace.Soon(t, "the save", func() bool { _, err := os.Stat(staged); return err == nil })
				x.Leave()
			}
			testplace.Soon(t, "that it is given up", func() bool {
				for _, n := range x.Inbox.Take(nil) {
					if e, ok := n.Event.(*core.SaveFailed); ok {
						return e.GivenUp && e.ID == 1
					}
				}
				return false
			})
			if list, err := os.ReadDir(filepath.Join(dir, "checkpoints")); err != nil || len(list) > 0 {
				t.Errorf("left: %v, %v", list, err)
			}
		})
	}
}

// A save that gets on is not given up, however many graces it takes: neither while it counts bytes nor while the kernel
// or a node is at work.
func TestSaveThatGetsOn(t *testing.T) {
	var s saves
	var timers []func()
	s.leave(time.Second, func(f func()) { timers = append(timers, f) })
	x, end := s.begin(0, time.Second)
	graceOver := func() {
		now := timers
		timers = nil
		for _, f := range now {
			f()
		}
	}
	atWork := func() {}
	for _, step := range []func(){
		func() { _, _ = x.Write([]byte("data")) },
		func() { atWork = x.Unseen() },
		func() {},
		func() { atWork() },
	} {
		step()
		if graceOver(); x.Err() != nil {
			t.Fatal(x.Err())
		}
	}
	if graceOver(); !givenUp(x.Err()) {
		t.Errorf("without progress: %v", x.Err())
	}
	end()
	_, end = s.begin(0, time.Second)
	end()
	if graceOver(); len(timers) > 0 {
		t.Error("a save that is over is still watched")
	}
}

// B-060: a model that is given up is recorded as such, so that the next host runs its trial again and exports it.
func TestEndlessExport(t *testing.T) {
	x, p := trains(t, clock.System{}, func(o *Options) {
		o.Grace = time.Millisecond
		o.Checkpoints = endless{SharedFiles{Storage: o.Storage}}
	})
	dir := x.Storage.Trial("1")
	x.Put(Work{Action: core.StartAttempt{Trial: 1, Attempt: 1}, Dir: dir, Params: []byte(`{}`),
		Trial: &sdk.Trial{Dir: dir, Params: []byte(`{}`), Export: []string{"onnx"}}})
	x.Flush()
	testplace.Soon(t, "its start", func() bool { return p.count(train.Start) == 2 })
	run := p.last(train.Start).Run
	p.say <- []train.Event{{Kind: train.Started, Run: run}, {Kind: train.Exported, Run: run, Format: "onnx"},
		{Kind: train.Ended, Run: run}}
	x.Leave()
	heard, end := heardOf(t, x)
	if end.Trial != 1 || end.Cause.Kind != core.CauseNone {
		t.Errorf("%+v", end)
	}
	for _, n := range heard {
		if e, ok := n.Event.(*core.ModelExported); ok && e.GivenUp && e.Format == "onnx" {
			return
		}
	}
	t.Errorf("nobody hears that the model is given up: %v", heard)
}
