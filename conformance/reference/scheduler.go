package reference

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Scheduler pauses each trial once, at a milestone, and lets it continue if it is not worse than
// the mean of the earlier ones.
var Scheduler = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind: sdk.KindScheduler, Name: "reference", Version: "1.0.0",
		Summary: "Pauses each trial once and stops the worse ones, as an example of a scheduler.",
		Options: schedulerOptions.Schema(),
	},
	Open: openScheduler,
}

// schedulerOptions declares the milestone.
var schedulerOptions = option.Declare(func(milestone *uint64) []option.Option {
	return []option.Option{
		option.Int("milestone", milestone, 4, option.From(1), "The iteration at which trials are compared."),
	}
})

func openScheduler(_ sdk.Problem, options []byte) (sdk.Scheduler, sdk.Traits, error) {
	milestone, err := schedulerOptions.Read(options)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return &scheduler{Milestone: milestone, Trials: map[uint32]*trial{}}, sdk.Traits{RunAhead: 1, Saves: true}, nil
}

// scheduler is its own snapshot.
type scheduler struct {
	Milestone uint64
	Trials    map[uint32]*trial
	Sum       float64 // of the finite losses at the milestone
	Count     float64
}

type trial struct {
	State   string // "", "waits" (was told to pause), "over" (judged, or ended)
	Passes  bool
	Verdict string // why
}

// Decide processes the events one by one, so that batches do not matter.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	var out sdk.Decisions
	for i := range events {
		switch e := &events[i]; e.Kind {
		case sdk.ResultReported:
			s.result(e, &out)
		case sdk.TrialPaused:
			s.paused(e.Trial, &out)
		case sdk.TrialStarted:
			s.started(e.Trial)
		case sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved:
			s.trial(e.Trial).State = "over"
		}
	}
	return out, nil
}

func (s *scheduler) trial(no uint32) *trial {
	if s.Trials[no] == nil {
		s.Trials[no] = &trial{}
	}
	return s.Trials[no]
}

func (s *scheduler) result(e *sdk.Event, out *sdk.Decisions) {
	t := s.trial(e.Trial)
	if t.State != "" || len(e.Losses) == 0 {
		return
	}
	d := sdk.Decision{Event: e.Number, Until: s.Milestone}
	loss := e.Losses[0]
	switch {
	case e.Iteration < s.Milestone:
	case math.IsInf(loss, 1):
		t.State = "over"
		d = sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: "no finite loss at the milestone"}
	default:
		t.State = "waits"
		s.judge(t, loss)
		d = sdk.Decision{Event: e.Number, Verdict: sdk.Pause, Reason: "is compared at the milestone"}
	}
	out.Decisions = append(out.Decisions, d)
}

// judge compares a loss with the mean so far.
func (s *scheduler) judge(t *trial, loss float64) {
	t.Passes = s.Count == 0 || loss <= s.Sum/s.Count
	t.Verdict = fmt.Sprintf("loss %v at iteration %d is the first", loss, s.Milestone)
	if s.Count > 0 {
		t.Verdict = fmt.Sprintf("loss %v at iteration %d, where the mean is %v", loss, s.Milestone, s.Sum/s.Count)
	}
	if sum := s.Sum + loss; !math.IsInf(sum, 0) {
		s.Sum, s.Count = sum, s.Count+1
	}
}

// paused sends the command for a trial that is now paused.
func (s *scheduler) paused(no uint32, out *sdk.Decisions) {
	t := s.trial(no)
	if t.State != "waits" {
		return // by the user
	}
	t.State = "over"
	kind := sdk.StopTrial
	if t.Passes {
		kind = sdk.Resume
	}
	out.Commands = append(out.Commands, sdk.Command{Kind: kind, Trial: no, Reason: t.Verdict})
}

// started: the trial runs again before its pause was done; the pause may still come.
func (s *scheduler) started(no uint32) { s.trial(no) }

// Snapshot implements sdk.Snapshotter.
func (s *scheduler) Snapshot() ([]byte, error) { return json.Marshal(s) }

// Restore implements sdk.Snapshotter.
func (s *scheduler) Restore(snapshot []byte) error { return json.Unmarshal(snapshot, s) }
