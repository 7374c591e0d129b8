package view

import (
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage/lack"
)

// stopped is a clock that stands still.
type stopped struct{ clock.Clock }

func (stopped) Now() time.Time                { return time.Unix(0, 0) }
func (stopped) Since(time.Time) time.Duration { return 0 }

// begun returns an experiment whose only trial runs.
func begun(t *testing.T) *State {
	c, err := config.Parse("x.yaml",
		[]byte("version: 1\nobjective: {metric: acc, mode: max}\nspace: {}\ntrials: 2\n"), config.WithoutTrainable())
	if err != nil {
		t.Fatal(err)
	}
	h := history.New()
	m := h.Machine()
	m.Apply(0, &core.ExperimentStarted{Spec: core.Spec{Rules: core.NewestRules, Manual: true, Trials: 2,
		Objectives: []core.Objective{{Metric: "acc"}}}})
	m.Apply(0, &core.HostStarted{})
	m.Apply(0, &core.TrialGiven{Suggestion: core.Suggestion{Params: []byte("{}")}})
	m.Apply(0, &core.OfferMade{})
	return NewState(&Facts{Name: "x", Config: c}, h)
}

// What ends or holds the experiment is on the board immediately, however recent the last write;
// results wait for the next write. B-024, B-120
func TestTheBoardSaysAtOnceWhatEndsTheExperiment(t *testing.T) {
	s := begun(t)
	m := s.Machine
	missing := lack.Nothing
	b := NewBoard(BoardOptions{State: s, Clock: stopped{}, Elapsed: func() time.Duration { return 0 },
		Lacks: func() lack.Lack { return missing }})
	b.Write(true)
	for _, missing = range append(lack.Kinds, lack.Nothing) {
		if got := b.Status().Waiting; got != missing.Waits() {
			t.Errorf("it waits for %q instead of %q", got, missing.Waits())
		}
	}
	m.Apply(0, &core.TrialGiven{Suggestion: core.Suggestion{Params: []byte("{}")}})
	if wait := b.Write(false); wait <= 0 || b.Status().Made != 1 {
		t.Fatalf("written again after no time: %v, %+v", wait, b.Status())
	}
	m.Apply(0, &core.PauseRequested{All: true})
	if b.Write(false); !b.Status().Paused {
		t.Errorf("not paused: %+v", b.Status())
	}
	m.Apply(0, &core.Interrupted{})
	if b.Write(false); b.Status().Ending != "interrupted" || b.Status().State != "running" {
		t.Errorf("not being interrupted: %+v", b.Status())
	}
	b.Leave()
	b.Write(true)
	if s := b.Status(); s.State != "interrupted" || s.Ending != "" || s.Counts[core.Running] != 1 {
		t.Errorf("not left: %+v", s)
	}
}
