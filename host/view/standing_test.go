package view

import (
	"math"
	"testing"

	"github.com/tunehost/tunehost/core"
)

// What is kept of trials that have ended is what a look at them gives, at each moment, also after one was run again.
func TestKeptValues(t *testing.T) {
	w, e, _ := recording(t)
	w.Iterations, w.Fails = 3, map[core.TrialNo]string{2: "no memory"}
	ended, again := 0, false
	for outcome := core.Outcome(0); outcome == 0; outcome, _ = w.Machine.Outcome() {
		on(t, w, e, 1)
		ended += alike(t, e.Now())
		if !again && e.Now().Machine.State(2) == core.Errored {
			again, w.Fails = true, nil
			w.Event(&core.TrialReset{Trial: 2, Scratch: true})
		}
	}
	if !again || ended == 0 {
		t.Fatalf("trial 2 was run again: %v; %d looks at trials that had ended", again, ended)
	}
}

// alike compares the values of all trials with those of a look at each, and counts those that have ended.
func alike(t *testing.T, s *State) (ended int) {
	t.Helper()
	for _, scope := range []Scope{Last, Max} {
		o := s.Objectives()[0]
		values := s.values(o, scope)
		for no := range core.TrialNo(s.Trials()) {
			got, ok := values(no)
			want, reported := scope.measured(s.Machine, no, 1, o)
			if ok != reported || ok && math.Float64bits(got) != math.Float64bits(want.value) {
				t.Errorf("entry %d, trial %d: %v %v, by a look %v %v", s.Entries(), no, got, ok, want.value, reported)
			}
			if s.Machine.State(no).Final() {
				ended++
			}
		}
	}
	return ended
}
