package attempt

import (
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-058, B-060: a trial that has ended does not fail because a checkpoint that is asked for
// while its models are made can no longer be had.
func TestEndBeforeLateSaves(t *testing.T) {
	t.Parallel()
	storage, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x := New(Options{Inbox: inbox.New(), Shared: true, Storage: storage, Log: hostlog.New(hclog.NewNullLogger())})
	l := life.New(life.Options{Trial: 3, Attempt: 1, Export: []string{"json"}})
	r := &run{Life: l, dir: t.TempDir(), start: &sdk.Trial{}, worker: &worker{trainer: newScripted()},
		over: make(chan struct{})}
	for _, e := range []life.Event{life.DirReady{}, life.Assigned{}, life.Started{}, life.Exported{Format: "json"}} {
		r.Apply(e) // nothing is made yet
	}
	x.lockAndApply(r, life.Finished{})
	x.cannotSave(3, 1, 2, life.HadEnded)
	x.lockAndApply(r, life.ExportMade{Format: "json", Error: "no"})
	x.saving.Wait()
	x.cannotSave(3, 1, 4, life.HadEnded)
	var got []core.Event
	for _, n := range x.Inbox.Take(nil) {
		got = append(got, n.Event)
	}
	if len(got) != 4 {
		t.Fatalf("%v", got)
	}
	got = got[1:] // it has no model
	if _, ok := got[0].(*core.AttemptEnded); !ok || got[1].(*core.SaveFailed).ID != 2 ||
		got[2].(*core.SaveFailed).ID != 4 {
		t.Errorf("%v", got)
	}
}
