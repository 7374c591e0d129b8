package training

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-058, B-060: a trial that has ended does not fail because a checkpoint that is asked for
// while its models are made can no longer be had.
func TestEndBeforeLateSaves(t *testing.T) {
	t.Parallel()
	x := New(Options{Inbox: inbox.New()})
	made := make(chan struct{})
	r := &run{trial: 3, attempt: 1, dir: t.TempDir(), start: &sdk.Trial{Export: []string{"json"}}}
	r.exports.making = []chan struct{}{made}
	x.mu.Lock()
	x.postAfterExports(r, []core.Event{&core.AttemptEnded{Trial: 3, Attempt: 1}})
	x.mu.Unlock()
	x.cannotSave(3, 1, 2, nil)
	close(made)
	x.saving.Wait()
	x.cannotSave(3, 1, 4, nil)
	var got []core.Event
	for _, n := range x.Inbox.Take(nil) {
		got = append(got, n.Event)
	}
	if len(got) != 3 {
		t.Fatalf("%v", got)
	}
	if _, ok := got[0].(*core.AttemptEnded); !ok || got[1].(*core.SaveFailed).ID != 2 || got[2].(*core.SaveFailed).ID != 4 {
		t.Errorf("%v", got)
	}
}
