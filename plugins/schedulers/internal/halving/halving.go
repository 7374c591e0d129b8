// Package halving groups trials in brackets that halve at their milestones when all their trials
// have arrived. It is the synchronous Hyperband of the schedulers hyperband and bohb, which differ
// in their brackets; package hyperband documents the rules.
package halving

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/each"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/hold"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// New returns the scheduler whose trials fill the plans in turn. All plans end at the same last
// milestone; factor is at least 2.
func New(p sdk.Problem, compared objective.Objective, plans []Plan, factor uint64) sdk.Scheduler {
	last := plans[0].At[len(plans[0].At)-1]
	return &scheduler{objective: compared, plans: plans, factor: factor, max: last, planned: p.Trials}
}

type scheduler struct {
	objective objective.Objective
	plans     []Plan
	factor    uint64
	max       uint64 // iterations of a trial that survives
	trials    table.Table[trial]
	filling   *bracket // the bracket that new trials join
	opened    int      // brackets so far

	planned     int // trials; 0: unknown
	added       int
	searchEnded bool
}

type trial struct {
	hold    hold.Trial
	bracket *bracket // nil until the trial is known
	arrived bool     // at its bracket's milestone
	told    bool     // the host knows the next iteration that needs a decision
}

// Decide processes the events one by one; see the rules of the package.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	return each.Event(events, s.apply)
}

func (s *scheduler) apply(e *sdk.Event, out *sdk.Decisions) {
	switch e.Kind {
	case sdk.ExperimentEnded:
	case sdk.SearchEnded:
		s.searchEnded = true
		s.check(s.filling, nil, out)
	case sdk.ResultReported:
		s.result(e, s.trial(e.Trial), out)
	case sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved:
		t := s.trial(e.Trial)
		s.remove(t)
		s.check(t.bracket, nil, out)
	default:
		s.trial(e.Trial).hold.Observe(e, out)
	}
}

// trial returns the state of a trial, and assigns a new trial to a bracket.
func (s *scheduler) trial(number uint32) *trial {
	t := s.trials.At(number)
	if t.bracket == nil {
		if s.filling == nil || !s.filling.open() {
			s.filling = &bracket{Plan: s.plans[s.opened%len(s.plans)]}
			s.opened++
		}
		t.bracket = s.filling
		t.bracket.join()
		s.added++
	}
	return t
}

// result decides a due result; other results continue without an answer.
func (s *scheduler) result(e *sdk.Event, t *trial, out *sdk.Decisions) {
	reason, doomed := t.hold.StopPending()
	switch {
	case doomed:
		decide(out, e, sdk.Stop, reason)
	case !t.hold.Free():
	case e.Iteration >= s.max:
		decide(out, e, sdk.Stop, fmt.Sprintf("finished: max is %d iterations", s.max))
		s.remove(t)
		s.check(t.bracket, nil, out)
	case t.arrived:
		s.pause(e, t, out)
	case e.Iteration >= t.bracket.milestone():
		s.arrive(e, t, out)
	case !t.told:
		s.goOn(e, t, out)
	}
}

func decide(out *sdk.Decisions, e *sdk.Event, v sdk.Verdict, reason string) {
	out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Verdict: v, Reason: reason})
}

func (s *scheduler) goOn(e *sdk.Event, t *trial, out *sdk.Decisions) {
	t.told = true
	out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Until: t.bracket.milestone()})
}

func (s *scheduler) pause(e *sdk.Event, t *trial, out *sdk.Decisions) {
	t.hold.Pause()
	t.told = false
	decide(out, e, sdk.Pause, fmt.Sprintf("waits at milestone %d with %d of the %d of its bracket",
		t.bracket.milestone(), len(t.bracket.arrived), s.expected(t.bracket)))
}

// expected returns how many trials the bracket waits for, including this one.
func (s *scheduler) expected(b *bracket) uint64 {
	if b.open() && !s.gathered() {
		return b.Trials
	}
	return b.entered
}

// arrive records the trial's loss at the milestone; the last arrival triggers the halving and is
// decided there.
func (s *scheduler) arrive(e *sdk.Event, t *trial, out *sdk.Decisions) {
	t.arrived = true
	b := t.bracket
	b.under--
	b.arrived = append(b.arrived, arrival{s.objective.Loss(e), e.Trial})
	if !s.check(b, e, out) {
		s.pause(e, t, out)
	}
}

// remove removes a trial that ended, or is told to end, from its bracket.
func (s *scheduler) remove(t *trial) {
	if !t.hold.Ended() && !t.arrived {
		t.bracket.under--
	}
	t.hold.End()
}

// check halves the bracket if no trial is on the way. e is the result of the trial that just
// arrived, or nil.
func (s *scheduler) check(b *bracket, e *sdk.Event, out *sdk.Decisions) bool {
	if b == nil || b.under > 0 || len(b.arrived) == 0 || b.open() && !s.gathered() {
		return false
	}
	s.halve(b, e, out)
	return true
}

// gathered reports whether all trials were added.
func (s *scheduler) gathered() bool {
	return s.searchEnded || s.planned > 0 && s.added >= s.planned
}

func (s *scheduler) halve(b *bracket, e *sdk.Event, out *sdk.Decisions) {
	group := s.ranked(b)
	h := halving{milestone: b.milestone(), of: b.entered, keep: min(Ceil(b.entered, s.factor), uint64(finite(group)))}
	b.stage++
	b.arrived, b.entered, b.under = nil, h.keep, int(h.keep)
	for _, a := range group[:h.keep] {
		h.cut = a.loss
		s.wins(a, h, e, out)
	}
	for _, a := range group[h.keep:] {
		s.loses(a, h, e, out)
	}
}

// halving has the numbers for the reasons.
type halving struct {
	milestone, keep, of uint64
	cut                 float64 // the worst loss that continues
}

// ranked returns the arrivals that have not ended meanwhile, the best first.
func (s *scheduler) ranked(b *bracket) []arrival {
	group := slices.DeleteFunc(b.arrived, func(a arrival) bool { return s.trials.At(a.trial).hold.Ended() })
	slices.SortFunc(group, func(a, b arrival) int {
		return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.trial, b.trial))
	})
	return group
}

func finite(group []arrival) int {
	i := slices.IndexFunc(group, func(a arrival) bool { return math.IsInf(a.loss, 1) })
	if i < 0 {
		return len(group)
	}
	return i
}

func (s *scheduler) wins(a arrival, h halving, e *sdk.Event, out *sdk.Decisions) {
	t := s.trials.At(a.trial)
	t.arrived = false
	if e != nil && e.Trial == a.trial {
		s.goOn(e, t, out)
		return
	}
	t.hold.Order(sdk.Command{Kind: sdk.Resume, Trial: a.trial, Reason: fmt.Sprintf(
		"%s at milestone %d is among the best %d of %d", s.objective.Text(a.loss), h.milestone, h.keep, h.of)}, out)
}

func (s *scheduler) loses(a arrival, h halving, e *sdk.Event, out *sdk.Decisions) {
	t := s.trials.At(a.trial)
	reason := s.lost(a, h)
	if e != nil && e.Trial == a.trial {
		decide(out, e, sdk.Stop, reason)
		t.hold.End()
		return
	}
	t.hold.Order(sdk.Command{Kind: sdk.StopTrial, Trial: a.trial, Reason: reason}, out)
}

func (s *scheduler) lost(a arrival, h halving) string {
	if math.IsInf(a.loss, 1) {
		return fmt.Sprintf("%s at milestone %d is not a finite number", s.objective.Name(), h.milestone)
	}
	return fmt.Sprintf("%s at milestone %d is not among the best %d of %d (%s or better)",
		s.objective.Text(a.loss), h.milestone, h.keep, h.of, s.objective.Value(h.cut))
}
