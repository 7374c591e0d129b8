package view

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

const followed = `version: 1
objective: {metric: accuracy, mode: max}
space: {lr: {uniform: [0, 1]}}
trials: 6
checkpoint: {every: 1}
`

// recording is an experiment that has begun, and a reader who counts the events that it makes.
func recording(t *testing.T) (w *viewtest.Writer, e *Recorded, made *int) {
	t.Helper()
	w = viewtest.New(filepath.Join(t.TempDir(), "digits"), []byte(followed), 7)
	w.Start(2)
	w.Run(2)
	e, err := OpenFollowed(w.Dir.Path(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	made = new(int)
	subject := e.at.builder.trial
	e.at.builder.trial = func(no core.TrialNo) Subject { *made++; return subject(no) }
	return w, e, made
}

// on has more recorded, and read.
func on(t *testing.T, w *viewtest.Writer, e *Recorded, rounds int) {
	t.Helper()
	w.Run(rounds)
	if changed, err := e.Refresh(); err != nil || !changed {
		t.Fatal(changed, err)
	}
}

// As long as nobody follows an experiment, its events are counted and not made; from then on the feed has them.
func TestEventsAreMadeForFollowers(t *testing.T) {
	w, e, made := recording(t)
	before := e.at.builder.Last()
	on(t, w, e, 2)
	if last := e.at.builder.Last(); *made != 0 || last <= before {
		t.Errorf("%d events were made for nobody; they count from %d to %d", *made, before, last)
	}
	feed := e.Feed()
	begun := feed.Last()
	on(t, w, e, 2)
	if list, through := feed.Since(begun); *made == 0 || through != 0 || len(list) == 0 || e.Feed() != feed {
		t.Errorf("%d events were made, and the feed has %d", *made, len(list))
	}
}

// A follower who comes late, or comes back with the number of the last event that it has, gets each event once, the
// same as one who reads them all from the record, wherever the feed begins.
func TestLateFollowersMissNothing(t *testing.T) {
	w, e, _ := recording(t)
	on(t, w, e, 2)
	begun := e.Feed().Last()
	on(t, w, e, 2)
	w.Run(-1)
	w.Close()
	if _, err := e.Refresh(); err != nil {
		t.Fatal(err)
	}
	all := followedFrom(t, e, 0, nil)
	if all[0].Number >= begun || all[len(all)-1].Number <= begun {
		t.Fatalf("the feed begins at %d, and there are events from %d to %d", begun, all[0].Number,
			all[len(all)-1].Number)
	}
	for i := range all {
		rest := followedFrom(t, e, all[i].Number, e.Feed())
		if want := all[i+1:]; !reflect.DeepEqual(lines(rest), lines(want)) {
			t.Errorf("after %d come %d events, want %d:\n%s\n%s", all[i].Number, len(rest), len(want), lines(rest),
				lines(want))
		}
	}
}

// followedFrom returns the events after a number, to the last one.
func followedFrom(t *testing.T, e *Recorded, after uint64, feed *Feed) (all []Event) {
	t.Helper()
	f := e.Follow(after, feed)
	defer f.Close()
	for {
		events, err := f.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 {
			return all
		}
		all = append(all, events...)
	}
}

// lines are events as readers get them.
func lines(events []Event) (list []json.RawMessage) {
	for i := range events {
		list = append(list, events[i].AppendJSON(nil))
	}
	return list
}

// Events have the values of their own results, however many entries were read since: from the record as from the feed.
func TestEventsKeepTheirValues(t *testing.T) {
	w, e, _ := recording(t)
	begun := e.Feed().Last()
	value := func(i uint64) string { return fmt.Sprintf(`{"note":"%0*d"}`, 1+i%50, i) }
	const most = 500
	for i := uint64(100); i < most; i++ {
		w.Event(&core.ResultReported{Trial: 0, Attempt: 1, Iteration: i, Values: []byte(value(i)),
			Metrics: []core.Metric{{ID: 1, Value: 1}}})
	}
	w.Flush()
	w.Crash()
	if _, err := e.Refresh(); err != nil {
		t.Fatal(err)
	}
	for from, list := range map[string][]Event{"record": followedFrom(t, e, begun, nil),
		"feed": followedFrom(t, e, begun, e.Feed())} {
		n := 0
		for _, x := range list {
			if x.Result != nil && x.Result.Values != nil {
				if n++; string(x.Result.Values) != value(x.Iteration) {
					t.Fatalf("%s: result %d has %q, want %s", from, x.Iteration, x.Result.Values, value(x.Iteration))
				}
			}
		}
		if n != most-100 {
			t.Errorf("%s: %d results have values, want %d", from, n, most-100)
		}
	}
}
