package attempt

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/clock/clocktest"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// B-053, B-050: a checkpoint of what was never reported does not count.
func TestInvalidCheckpoint(t *testing.T) {
	x, p := trains(t, clock.System{})
	p.say <- []train.Event{{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score"}}, Iteration: 3}}
	x.Put(Work{Action: core.SaveAttempt{Trial: 0, Attempt: 1, ID: 1, Iteration: 3}, Dir: x.Storage.Trial("0")})
	x.Flush()
	testplace.Soon(t, "the order to save", func() bool { return p.told(train.Save) })
	p.say <- []train.Event{{Kind: train.Saved, Run: 1, Iteration: 4}, {Kind: train.Ended, Run: 1}}
	list, _ := heardOf(t, x)
	for _, n := range list {
		switch e := n.Event.(type) {
		case *core.CheckpointSaved:
			t.Errorf("it counts: %+v", e)
		case *core.SaveFailed:
			contains(t, e.Error, "it has saved iteration 4, which it has not reported")
			return
		}
	}
	t.Errorf("nobody hears of it: %+v", list)
}

// Nothing is left of a checkpoint that cannot be kept: neither of one that the program made by itself, with a link in
// it, nor of one that it was asked for.
func TestNothingIsLeftOfAFailedSave(t *testing.T) {
	for name, save := range map[string]func(x *Driver, p *scripted, dir string) error{
		"taken": func(x *Driver, _ *scripted, dir string) error {
			made := filepath.Join(storage.OwnCheckpoints(dir), "made")
			x.Put(Work{Action: core.TakeCheckpoint{Trial: 0, Attempt: 1, ID: 1, Iteration: 1, Path: made}, Dir: dir})
			return errors.Join(os.MkdirAll(made, 0o700), os.Symlink("/etc/passwd", filepath.Join(made, "link")))
		},
		"asked for": func(x *Driver, p *scripted, dir string) error {
			x.Put(Work{Action: core.SaveAttempt{Trial: 0, Attempt: 1, ID: 1, Iteration: 1}, Dir: dir})
			x.Flush()
			testplace.Soon(t, "the order to save", func() bool { return p.told(train.Save) })
			p.say <- []train.Event{{Kind: train.Saved, Run: 1, Error: "out of memory"}}
			return os.WriteFile(filepath.Join(p.last(train.Save).Dir, "half"), []byte("half"), 0o600)
		},
	} {
		x, p := trains(t, clock.System{})
		p.say <- []train.Event{{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score"}}, Iteration: 1}}
		dir := x.Storage.Trial("0")
		if err := save(x, p, dir); err != nil {
			t.Fatal(err)
		}
		x.Flush()
		failed := func(n inbox.Item) bool { _, ok := n.Event.(*core.SaveFailed); return ok }
		testplace.Soon(t, "the failure", func() bool { return slices.ContainsFunc(x.Inbox.Take(nil), failed) })
		x.saving.Wait()
		left, err := filepath.Glob(filepath.Join(dir, "checkpoints", "0*"))
		if err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", name, left, err)
		}
	}
}

// B-126: a save that takes longer than its limit is named with its time, once.
func TestSlowSavesAreNamedOnce(t *testing.T) {
	said, clock := &testplace.Screen{}, clocktest.New(1)
	x, p := trains(t, clock, func(o *Options) {
		o.Log, o.Saved = hostlog.Open(io.Discard, hostlog.NewScreen(said,
			"")), func(string) { clock.Jump(11 * time.Second) }
	})
	for id := range uint32(3) {
		p.say <- []train.Event{{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score"}}}}
		x.Put(Work{Action: core.ContinueAttempt{Trial: 0, Attempt: 1, Credits: 1}})
		x.Put(Work{Action: core.SaveAttempt{Trial: 0, Attempt: 1, ID: id + 1, Iteration: uint64(id) + 1},
			Dir: x.Storage.Trial("0")})
		x.Flush()
		testplace.Soon(t, "the order to save", func() bool { return p.count(train.Save) == int(id)+1 })
		if err := os.WriteFile(filepath.Join(p.last(train.Save).Dir, "model"), []byte{byte(id)}, 0o600); err != nil {
			t.Fatal(err)
		}
		p.say <- []train.Event{{Kind: train.Saved, Run: 1}}
		testplace.Soon(t, "the checkpoint", func() bool { return saved(x) })
	}
	if got := strings.Count(said.String(), "saving a checkpoint took 11"); got != 1 {
		t.Errorf("it is said %d times, want once: %s", got, said)
	}
}

// B-051: while a trial's checkpoint is made whole, another begins, reports and is answered; the
// checkpoint counts when it is whole, and not before.
func TestSavesBesideOthers(t *testing.T) {
	whole := make(chan struct{})
	complete := sync.OnceFunc(func() { close(whole) })
	x, p := trains(t, clock.System{}, func(o *Options) { o.Saved = func(string) { <-whole } })
	t.Cleanup(complete) // before the driver is closed, also if the test fails
	report := func(run uint64) {
		p.say <- []train.Event{{Kind: train.Result, Run: run, Metrics: []sdk.Metric{{Name: "score"}}}}
	}
	report(1)
	x.Put(Work{Action: core.SaveAttempt{Trial: 0, Attempt: 1, ID: 1, Iteration: 1}, Dir: x.Storage.Trial("0")})
	x.Flush()
	testplace.Soon(t, "the order to save", func() bool { return p.told(train.Save) })
	if err := os.WriteFile(filepath.Join(p.last(train.Save).Dir, "model"), []byte("model"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.say <- []train.Event{{Kind: train.Saved, Run: 1}}

	dir := x.Storage.Trial("1")
	x.Put(Work{Action: core.StartAttempt{Trial: 1, Attempt: 1}, Trial: &sdk.Trial{Dir: dir, Params: []byte(`{}`)},
		Dir: dir, Params: []byte(`{}`)})
	x.Flush()
	testplace.Soon(t, "another trial's start", func() bool { return p.count(train.Start) == 2 })
	other := p.last(train.Start).Run
	p.say <- []train.Event{{Kind: train.Started, Run: other}}
	report(other)
	x.Put(Work{Action: core.ContinueAttempt{Trial: 1, Attempt: 1, Credits: 1}})
	x.Flush()
	testplace.Soon(t, "its answer", func() bool { return p.last(train.Continue).Run == other })
	heard, counts := false, false
	look := func() {
		for _, n := range x.Inbox.Take(nil) {
			_, saved := n.Event.(*core.CheckpointSaved)
			counts = counts || saved
			heard = heard || n.Result != nil && n.Result.Trial == 1
		}
	}
	testplace.Soon(t, "its result", func() bool { look(); return heard })
	if counts {
		t.Error("a checkpoint counts that is not whole yet")
	}
	complete()
	testplace.Soon(t, "the checkpoint", func() bool { look(); return counts })
}

// saved says whether news of a checkpoint has come.
func saved(x *Driver) bool {
	return slices.ContainsFunc(x.Inbox.Take(nil), func(n inbox.Item) bool {
		_, ok := n.Event.(*core.CheckpointSaved)
		return ok
	})
}
