// Package evolve trains a population: at intervals the worst trials continue from checkpoints of
// the best, with other parameters. It is the common part of the schedulers pbt, pb2 and mf-pbt: pb2
// explores differently, and mf-pbt divides the population. The packages pbt and mfpbt document the
// rules.
package evolve

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/each"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/hold"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// An Explorer computes the parameters with which a trial continues. Calls are in the order of the
// events.
type Explorer interface {
	// Ranked reports the state of a trial when it was compared.
	Ranked(Standing)
	// Explore returns the point for the trial that continues from there: a point of the space that
	// satisfies its constraints. All randomness comes from rng.
	Explore(trial uint32, from Standing, rng *rand.Rand) space.Point
	// Adopt returns the point for a trial that continues from the donor's checkpoint with the
	// parameters of another: a point of the space that satisfies its constraints.
	Adopt(donor, other space.Point, rng *rand.Rand) space.Point
}

// A Standing is the state of a trial.
type Standing struct {
	Trial uint32
	// Iteration is that of the comparison, or of the checkpoint from which others continue.
	Iteration uint64
	// Loss is that of the last comparison, never NaN.
	Loss  float64
	Point space.Point
}

// New returns the scheduler. The options must be checked, see [Options.Check].
func New(p sdk.Problem, o Options, compared objective.Objective, explores Explorer) sdk.Scheduler {
	return Divided(p, o, []uint64{1}, compared, explores)
}

// Divided returns the scheduler with a subpopulation for each of the periods: the number of
// comparisons after which it evolves, in increasing order.
func Divided(p sdk.Problem, o Options, periods []uint64, compared objective.Objective,
	explores Explorer) sdk.Scheduler {
	s := &scheduler{options: o, objective: compared, explorer: explores, seed: p.Seed, planned: p.Trials,
		groups: make([]group, len(periods))}
	for i := range s.groups {
		s.groups[i] = group{index: i, period: periods[i]}
	}
	s.barrier = s.first()
	return s
}

type scheduler struct {
	options   Options
	objective objective.Objective
	explorer  Explorer
	seed      uint64
	trials    table.Table[trial]
	groups    []group
	longest   uint64 // the highest iteration at which a trial completed

	// For sync.
	planned     int
	added       int
	live        int    // trials that have not ended
	waiting     int    // of these, the ones paused at the barrier
	barrier     uint64 // the iteration of the barrier
	furthest    uint64 // highest iteration of the waiting trials
	meetings    uint64
	searchEnded bool
}

type trial struct {
	hold     hold.Trial
	known    bool
	told     bool // the host knows the next iteration that needs a decision
	ranked   bool // it is in the population, with this loss
	loss     float64
	point    space.Point
	next     uint64 // iteration of its next comparison
	compared uint64 // number of comparisons since it was last judged by its rank
	saved    uint64 // iteration of its last checkpoint; 0: none
	exploits uint64 // number of exploits
	asked    uint64 // iteration of its last pause
	unsaved  bool   // it was paused to save a checkpoint, and made none
	then     then
}

// then is the purpose of a pause.
type then uint8

const (
	resume then = iota
	exploit
	migrate
	wait // for the others
)

// Decide processes the events one by one; see the rules of the package.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	return each.Event(events, s.apply)
}

func (s *scheduler) apply(e *sdk.Event, out *sdk.Decisions) {
	switch e.Kind {
	case sdk.ExperimentEnded:
	case sdk.SearchEnded:
		s.searchEnded = true
		s.continueAll(out)
	case sdk.ResultReported:
		s.result(e, s.trial(e.Trial), out)
	default:
		s.follow(e, s.trial(e.Trial), out)
	}
}

func (s *scheduler) trial(number uint32) *trial {
	t := s.trials.At(number)
	if !t.known {
		t.known, t.next = true, s.first()
		s.added++
		s.live++
	}
	return t
}

// first returns the iteration of the first comparison.
func (s *scheduler) first() uint64 { return max(s.options.Interval, s.options.BurnIn) }

func (s *scheduler) follow(e *sdk.Event, t *trial, out *sdk.Decisions) {
	switch e.Kind {
	case sdk.TrialAdded:
		t.point = e.Point
	case sdk.CheckpointSaved:
		t.saved, t.unsaved = e.Iteration, false
	case sdk.TrialPaused:
		t.hold.Observe(e, out)
		s.paused(e.Trial, t, out)
	case sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved:
		if e.Kind == sdk.TrialCompleted {
			s.longest = max(s.longest, e.Iteration)
		}
		s.end(e.Trial, t)
		s.continueAll(out)
	default:
		waited := s.waits(t)
		if escaped := t.hold.Observe(e, out); escaped && waited {
			s.waiting--
		}
	}
}

// waits reports whether the trial counts as waiting at the barrier.
func (s *scheduler) waits(t *trial) bool { return t.then == wait && t.hold.Paused() }

// result decides a due result; other results continue without an answer.
func (s *scheduler) result(e *sdk.Event, t *trial, out *sdk.Decisions) {
	switch {
	case !t.hold.Free():
	case s.options.Max > 0 && e.Iteration >= s.options.Max:
		decide(out, sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: fmt.Sprintf("finished: max is %d "+
			"iterations", s.options.Max)})
		s.end(e.Trial, t)
		s.continueAll(out)
	case s.options.Sync && e.Iteration >= s.barrier:
		s.arrive(e, t, out)
	case !s.options.Sync && e.Iteration >= t.next:
		s.compare(e, t, out)
	case !t.told:
		s.goOn(e, t, out)
	}
}

func decide(out *sdk.Decisions, d sdk.Decision) { out.Decisions = append(out.Decisions, d) }

func (s *scheduler) goOn(e *sdk.Event, t *trial, out *sdk.Decisions) {
	t.told = true
	until := t.next
	if s.options.Sync {
		until = s.barrier
	}
	if s.options.Max > 0 {
		until = min(until, s.options.Max)
	}
	decide(out, sdk.Decision{Event: e.Number, Until: until})
}

func (s *scheduler) pause(e *sdk.Event, t *trial, why then, reason string, out *sdk.Decisions) {
	t.hold.Pause()
	t.then, t.told, t.asked = why, false, e.Iteration
	decide(out, sdk.Decision{Event: e.Number, Verdict: sdk.Pause, Reason: reason})
}

// compare ranks the trial and decides by its rank.
func (s *scheduler) compare(e *sdk.Event, t *trial, out *sdk.Decisions) {
	t.next = e.Iteration + s.options.Interval
	rank := s.rank(e, t)
	g := s.group(e.Trial)
	k := g.edge(s.options.Quantile)
	place := fmt.Sprintf("%s at iteration %d is number %d of %d%s", s.objective.Text(t.loss), e.Iteration, rank+1,
		len(g.population), s.of(g))
	switch why := s.judge(e.Trial, t, rank, k); {
	case why == exploit:
		s.pause(e, t, exploit, fmt.Sprintf("%s: it goes on from one of the best %d", place, k), out)
	case why == migrate:
		s.pause(e, t, migrate, place+": it goes on from a better one of another sub-population", out)
	case rank < k && !math.IsInf(t.loss, 1) && s.lacks(e, t):
		s.pause(e, t, resume, place+": it saves a checkpoint for others", out)
	default:
		s.goOn(e, t, out)
	}
}

// lacks reports whether others need a newer checkpoint of the trial, which a pause creates. A trial
// that made none restarts from the beginning, and is not paused for this again.
func (s *scheduler) lacks(e *sdk.Event, t *trial) bool {
	return !t.unsaved && (t.saved == 0 || t.saved+s.options.Interval < e.Iteration)
}

// judge returns the consequence of the trial's rank: resume if there is none.
func (s *scheduler) judge(number uint32, t *trial, rank, k int) then {
	g := s.group(number)
	t.compared++
	if t.compared < g.period && !math.IsInf(t.loss, 1) {
		return resume
	}
	t.compared = 0
	switch {
	case g.worst(rank, k) && len(s.donors(g, number)) > 0:
		return exploit
	case (g.open(rank, k) || g.worst(rank, k)) && len(s.sources(number)) > 0:
		return migrate
	}
	return resume
}

// rank moves the trial to its new place in its group.
func (s *scheduler) rank(e *sdk.Event, t *trial) int {
	s.unrank(e.Trial, t)
	t.ranked, t.loss = true, s.objective.Loss(e)
	s.explorer.Ranked(Standing{e.Trial, e.Iteration, t.loss, t.point})
	return s.group(e.Trial).add(member{t.loss, e.Trial})
}

func (s *scheduler) unrank(number uint32, t *trial) {
	if t.ranked {
		s.group(number).remove(member{t.loss, number})
	}
	t.ranked = false
}

func (s *scheduler) end(number uint32, t *trial) {
	if t.hold.Ended() {
		return
	}
	if s.waits(t) {
		s.waiting--
	}
	s.live--
	s.unrank(number, t)
	t.hold.End()
}

// donors returns the group's best trials from which others can continue.
func (s *scheduler) donors(g *group, other uint32) []uint32 {
	var all []uint32
	for _, m := range g.population[:g.edge(s.options.Quantile)] {
		if saved := s.trials.At(m.trial).saved; m.trial != other && saved > 0 && !s.final(saved) &&
			!math.IsInf(m.loss, 1) {
			all = append(all, m.trial)
		}
	}
	return all
}

// final reports whether a checkpoint leaves nothing to train, judging by the ends of other trials:
// its trial may have ended and not yet reported it.
func (s *scheduler) final(saved uint64) bool {
	return saved == s.longest || s.options.Max > 0 && saved >= s.options.Max
}

// paused executes the purpose of a pause.
func (s *scheduler) paused(number uint32, t *trial, out *sdk.Decisions) {
	switch {
	case !t.hold.Paused():
	case t.then == wait:
		s.waiting++
		s.continueAll(out)
	case t.then == exploit:
		s.replace(number, t, s.donors(s.group(number), number), out)
	case t.then == migrate:
		s.replace(number, t, s.sources(number), out)
	default:
		t.unsaved = t.saved < t.asked
		reason := "its checkpoint is saved"
		if t.unsaved {
			reason = "it has made no checkpoint, and is not paused for one again"
		}
		t.hold.Order(sdk.Command{Kind: sdk.Resume, Trial: number, Reason: reason}, out)
	}
}

// replace lets a paused trial continue from one of the donors, or unchanged if there is none any
// more.
func (s *scheduler) replace(number uint32, t *trial, donors []uint32, out *sdk.Decisions) {
	if len(donors) == 0 {
		t.hold.Order(sdk.Command{Kind: sdk.Resume, Trial: number,
			Reason: "none of the best has a checkpoint to go on " +
				"from"}, out)
		return
	}
	t.exploits++
	rng := space.NewRand(mix(mix(s.seed+uint64(number)) + t.exploits))
	from := donors[rng.IntN(len(donors))]
	donor := s.trials.At(from)
	point, reason := s.inherit(number, t, from, rng)
	if len(s.groups) == 1 {
		// In a divided population it keeps its rank until it is compared again, so that the next
		// one is not replaced as well: groups are small.
		s.unrank(number, t)
	}
	t.point, t.next, t.compared = point, donor.saved+s.options.Interval, 0
	t.saved, t.told = 0, false
	t.hold.Order(sdk.Command{Kind: sdk.Exploit, Trial: number, Donor: from, Iteration: donor.saved, Point: point,
		Reason: reason}, out)
}

// inherit returns the point with which the trial continues from the donor, and the reason.
func (s *scheduler) inherit(number uint32, t *trial, from uint32, rng *rand.Rand) (space.Point, string) {
	if s.group(from) != s.group(number) {
		return s.immigrate(number, t, from, rng)
	}
	donor := s.trials.At(from)
	point := s.explorer.Explore(number, Standing{from, donor.saved, donor.loss, donor.point}, rng)
	return point, fmt.Sprintf("%s is among the worst%s; trial %d has %s", s.objective.Text(t.loss),
		s.of(s.group(number)), from, s.objective.Value(donor.loss))
}

// mix is SplitMix64's finaliser (Steele, Lea, Flood 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
