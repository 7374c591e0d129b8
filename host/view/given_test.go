package view_test

import (
	"testing"

	"github.com/tunehost/tunehost/core"
)

// The record tells who has given the trials that the searcher has not suggested, and of which trial one is a clone.
func TestGivenTrials(t *testing.T) {
	w := write(t, file)
	w.Start(2)
	give := func(extra, clone bool, donor core.TrialNo) {
		w.Event(&core.TrialGiven{Suggestion: core.Suggestion{Params: []byte(`{"lr":0.5,"units":3}`)}, Extra: extra,
			Clone: clone, Donor: donor})
	}
	give(false, false, 0)
	w.Run(3)
	first := w.Machine.Trials()
	give(true, false, 0)
	give(true, true, 0)
	w.Run(-1)
	w.Close()
	e := open(t, w)
	x, err := e.Decisions()
	if err != nil || len(x.Given) != 3 || x.Said == nil {
		t.Fatalf("%+v, %v", x, err)
	}
	for i, want := range []string{"file", "user", "user"} {
		g := x.Given[i]
		number := []int{0, first, first + 1}[i]
		if g.By != want || int(g.Number) != number || (g.Clone != nil) != (i == 2) {
			t.Errorf("%+v, want trial %d by %s", g, number, want)
		}
		if d, err := e.Detail(g.Number); err != nil || d.Given == nil || d.Given.By != want {
			t.Errorf("detail %+v, %v", d.Given, err)
		}
	}
	if d, err := e.Detail(1); err != nil || d.Given != nil {
		t.Errorf("trial 1 is the searcher's: %+v, %v", d.Given, err)
	}
}
