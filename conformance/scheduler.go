package conformance

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

var schedulerVerbs = map[string]verb{
	"play": take(plays), "repeat-play": take(repeatsPlay), "rebatch-play": take(rebatchesPlay),
	"restore-scheduler": take(restoresScheduler), "snapshot-scheduler": take(snapshotsScheduler),
	"restart-scheduler": take(restartsScheduler), "prefer-finite": take(prefersFinite),
	"scheduler-strangers": take(schedulerStrangers), "scheduler-nonsense": take(schedulerNonsense),
	"scheduler-flood": take(schedulerFlood), "scheduler-crowd": take(schedulerCrowd),
	"scheduler-objectives": take(schedulerObjectives), "scheduler-future": take(schedulerFuture),
	"run-ahead-trait": plain(runAheadTrait),
}

// judged is a play and the rules that a check verifies.
type judged struct {
	schedulerPlan
	// Rules are the verified rules; none: all.
	Rules []string `json:"rules"`
	// Needs is what must have happened for the check to be applicable: "pause", "exploit",
	// "resize", "command", "quiet".
	Needs string `json:"needs"`
}

var quietness = need[promises]{func(p promises) bool { return p.Quiet }, "it is not quiet"}

// played plays to the end, if the scheduler promises what is needed.
func (s *subject) played(w schedulerPlan, needs ...need[promises]) (*schedulerHost, error) {
	st, err := s.stage(w, needs...)
	if err != nil {
		return nil, err
	}
	return st, st.run()
}

// plays checks that none of the rules is violated.
func plays(s *subject, w judged) error {
	var needs []need[promises]
	if w.Needs == "quiet" {
		needs = append(needs, quietness)
	}
	st, err := s.played(w.schedulerPlan, needs...)
	if err != nil {
		return err
	}
	if err := st.verdict(w.Rules); err != nil {
		return err
	}
	return st.needed(w.Needs)
}

// verdict returns the first violation of one of the rules, or of any if none are named.
func (st *schedulerHost) verdict(rules []string) error {
	for _, b := range st.broken {
		if len(rules) == 0 || slices.Contains(rules, b.rule) {
			return &mismatch{b.want, b.saw}
		}
	}
	return nil
}

func (st *schedulerHost) needed(what string) error {
	lacking := map[string]bool{
		"pause":   st.paused == 0,
		"exploit": st.seen[sdk.Exploit] == 0,
		"resize":  st.seen[sdk.Resize] == 0,
		"command": len(st.seen) == 0,
	}
	if lacking[what] {
		return inapplicable(map[string]string{
			"pause": "it paused no trial", "exploit": "it gave no EXPLOIT", "resize": "it gave no RESIZE",
			"command": "it gave no commands",
		}[what])
	}
	return nil
}

// repeatsPlay checks that another instance makes the same decisions.
func repeatsPlay(s *subject, w schedulerPlan) error {
	st, err := s.played(w)
	if err != nil {
		return err
	}
	return s.reenact(st, 0, nil)
}

// reenact sends the acts from number from on to a new instance, which starts with the snapshot or
// receives the earlier events, and compares the answers.
func (s *subject) reenact(st *schedulerHost, from int, snapshot []byte) error {
	scheduler, err := s.scheduler(st.problem, snapshot)
	if err != nil {
		return err
	}
	if snapshot == nil && from > 0 {
		if _, err := scheduler.Decide(s.ctx, st.before(from)); err != nil {
			return err
		}
	}
	return s.decideAgain(scheduler, st.acts[from:])
}

// before returns the events that were sent before an act.
func (st *schedulerHost) before(n int) (events []sdk.Event) {
	for _, a := range st.acts[:n] {
		events = append(events, a.events...)
	}
	return events
}

func (s *subject) decideAgain(scheduler plugin.Scheduler, acts []act) error {
	for _, a := range acts {
		got, err := scheduler.Decide(s.ctx, a.events)
		if err != nil {
			return err
		}
		if err := sameDecisions(a.answer, got); err != nil {
			return err
		}
	}
	return nil
}

func sameDecisions(before, got sdk.Decisions) error {
	for i := range min(len(before.Decisions), len(got.Decisions)) {
		if before.Decisions[i] != got.Decisions[i] {
			return wanted(fmt.Sprintf("as before, %+v", before.Decisions[i]), "%+v", got.Decisions[i])
		}
	}
	if len(before.Decisions) != len(got.Decisions) {
		return wanted(fmt.Sprintf("as before, %d decisions", len(before.Decisions)), "%d", len(got.Decisions))
	}
	if !slices.EqualFunc(before.Commands, got.Commands, sameCommand) {
		return wanted(fmt.Sprintf("as before, the commands %+v", before.Commands), "%+v", got.Commands)
	}
	return nil
}

func sameCommand(a, b sdk.Command) bool {
	return a.Kind == b.Kind && a.Trial == b.Trial && a.Donor == b.Donor && a.Iteration == b.Iteration &&
		samePoint(a.Point, b.Point) && string(a.Resources) == string(b.Resources) && a.Reason == b.Reason
}

// rebatchesPlay checks that the same events in other batches give the same answers.
func rebatchesPlay(s *subject, w schedulerPlan) error {
	st, err := s.played(w)
	if err != nil {
		return err
	}
	var sum sdk.Decisions
	for _, a := range st.acts {
		sum.Decisions = append(sum.Decisions, a.answer.Decisions...)
		sum.Commands = append(sum.Commands, a.answer.Commands...)
	}
	events := st.before(len(st.acts))
	for _, size := range []int{1, 7, len(events)} {
		scheduler, err := s.scheduler(st.problem, nil)
		if err != nil {
			return err
		}
		var got sdk.Decisions
		for part := range slices.Chunk(events, size) {
			answer, err := scheduler.Decide(s.ctx, part)
			if err != nil {
				return err
			}
			got.Decisions = append(got.Decisions, answer.Decisions...)
			got.Commands = append(got.Commands, answer.Commands...)
		}
		if err := sameDecisions(sum, got); err != nil {
			return err
		}
	}
	return nil
}

// restoresScheduler checks that an instance that receives the history decides like the original
// one.
func restoresScheduler(s *subject, w schedulerPlan) error {
	st, err := s.played(w)
	if err != nil {
		return err
	}
	for _, at := range cuts(len(st.acts)) {
		if err := s.reenact(st, at, nil); err != nil {
			return err
		}
	}
	return nil
}

// snapshotsScheduler checks that an instance that starts with a snapshot decides like the one that
// made it.
func snapshotsScheduler(s *subject, w schedulerPlan) error {
	st, err := s.played(w, snapshots)
	if err != nil {
		return err
	}
	for _, at := range cuts(len(st.acts)) {
		scheduler, err := s.scheduler(st.problem, nil)
		if err != nil {
			return err
		}
		if err := s.decideAgain(scheduler, st.acts[:at]); err != nil {
			return err
		}
		snapshot, err := usable(scheduler.Snapshot(s.ctx))
		if err != nil {
			return err
		}
		if err := s.reenact(st, at, snapshot); err != nil {
			return err
		}
	}
	return nil
}

// restartsScheduler replaces the scheduler every few calls; the play must still end.
func restartsScheduler(s *subject, w struct {
	judged
	Every int `json:"every"`
}) error {
	st, err := s.stage(w.schedulerPlan)
	if err != nil {
		return err
	}
	st.scheduler = &restarted{Scheduler: st.scheduler, schedulerHost: st, every: w.Every}
	if err := st.run(); err != nil {
		return err
	}
	return st.verdict(w.Rules)
}

// restarted is a scheduler that is regularly replaced by one that receives the history.
type restarted struct {
	plugin.Scheduler
	*schedulerHost
	every, calls int
}

// prefersFinite checks that trials without a finite loss do not train longer than others.
func prefersFinite(s *subject, w schedulerPlan) error {
	st, err := s.played(w)
	if err != nil {
		return err
	}
	var reached, trials [2]float64
	for _, a := range st.actors {
		i := 0
		if a.nan {
			i = 1
		}
		reached[i] += float64(a.iteration)
		trials[i]++
	}
	if finite, nan := reached[0]/trials[0], reached[1]/trials[1]; nan > 1.1*finite {
		return wanted("trials without a finite loss to count as worst",
			"them at iteration %.1f on average in the end, the others at %.1f", nan, finite)
	}
	return nil
}

// schedulerStrangers checks that invalid events do not crash the scheduler.
func schedulerStrangers(s *subject, w struct {
	schedulerPlan
	Of string `json:"of"`
}) error {
	st, err := s.played(w.schedulerPlan)
	if err != nil {
		return err
	}
	last := st.history[len(st.history)-1].Number
	x := strange{Of: w.Of}
	_, err = st.scheduler.Decide(s.ctx, x.invalidEvents(last, len(st.actors), len(st.problem.Objectives),
		st.actors[0].point))
	err = allowFailure(err)
	if errors.Is(err, errRefusedEvents) {
		if w.Of == "future" {
			return wanted("events of unknown kinds to be ignored", "an error")
		}
		return nil
	}
	return err
}

// schedulerNonsense checks that events in arbitrary order do not crash the scheduler.
func schedulerNonsense(s *subject, w struct {
	schedulerPlan
	Events int    `json:"events"`
	Rounds uint64 `json:"rounds"`
}) error {
	for round := range w.Rounds {
		st, err := s.stage(w.schedulerPlan)
		if err != nil {
			return err
		}
		events := make([]sdk.Event, w.Events)
		for i := range events {
			events[i] = st.nonsense(round, uint64(i))
		}
		for part := range slices.Chunk(events, 10) {
			answer, err := st.scheduler.Decide(s.ctx, part)
			if err := allowFailure(err); errors.Is(err, errRefusedEvents) {
				break
			} else if err != nil {
				return err
			}
			if err := answered(part, answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// nonsense returns an event that need not follow from earlier ones.
func (st *schedulerHost) nonsense(round, i uint64) sdk.Event {
	draw := func(salt, n uint64) uint64 { return hash(43, round, i, salt) % n }
	e := sdk.Event{Number: i + 1, Kind: sdk.EventKind(1 + draw(1, 11)), Trial: uint32(draw(2, 8)),
		Iteration: draw(3, 12), Attempt: 1}
	if draw(4, 3) == 0 {
		e.Kind = sdk.ResultReported
	}
	if draw(5, 20) == 0 {
		e.Trial, e.Iteration = math.MaxUint32, math.MaxUint64
	}
	if e.Kind == sdk.TrialAdded {
		e.Point, _ = st.problem.Space.Sample(space.NewRand(i)) // its spaces have no strict constraints
	}
	if e.Kind == sdk.ResultReported || e.Kind == sdk.TrialCompleted {
		e.Losses = []float64{[]float64{-1, 0, 1, 2, math.MaxFloat64, -math.MaxFloat64, math.Inf(1)}[draw(6, 7)]}
	}
	return e
}

// answered checks that decisions are on results of this call, each once.
func answered(events []sdk.Event, answer sdk.Decisions) error {
	open := map[uint64]bool{}
	for _, e := range events {
		open[e.Number] = e.Kind == sdk.ResultReported
	}
	for _, d := range answer.Decisions {
		if !open[d.Event] {
			return wanted("at most one decision on each result of this call", "another on event %d", d.Event)
		}
		open[d.Event] = false
	}
	return nil
}

// schedulerFlood checks that a message of maximum size is accepted.
func schedulerFlood(s *subject, w struct {
	schedulerPlan
	Events  int `json:"events"`
	Metrics int `json:"metrics"`
}) error {
	st, err := s.stage(w.schedulerPlan)
	if err != nil {
		return err
	}
	st.fillWorkers()
	if err := st.sendEvents(); err != nil {
		return err
	}
	x := flood{Events: w.Events, Metrics: w.Metrics}
	events := x.events(st.history[len(st.history)-1].Number, len(st.actors), 1)
	answer, err := st.scheduler.Decide(s.ctx, events)
	if err != nil {
		return err
	}
	return answered(events, answer)
}

// schedulerCrowd checks that many trials run to their ends.
func schedulerCrowd(s *subject, w struct {
	schedulerPlan
	Results uint64 `json:"results"`
}) error {
	st, err := s.stage(w.schedulerPlan)
	if err != nil {
		return err
	}
	for range w.Trials {
		st.add()
	}
	for _, a := range st.actors {
		st.begin(a)
		for a.iteration < w.Results {
			st.report(a)
		}
		if a.state != ended {
			st.end(a, sdk.TrialCompleted)
		}
	}
	for part := range slices.Chunk(st.untold, 1024) {
		answer, err := st.scheduler.Decide(s.ctx, part)
		if err != nil {
			return err
		}
		if err := answered(part, answer); err != nil {
			return err
		}
	}
	return nil
}

// schedulerObjectives checks that several objectives are supported, or refused at once.
func schedulerObjectives(s *subject, w schedulerPlan) error {
	_, err := s.played(w)
	return err
}

// schedulerFuture checks that unknown fields change nothing.
func schedulerFuture(s *subject, w schedulerPlan) error {
	st, err := s.played(w)
	if err != nil {
		return err
	}
	p, err := s.future()
	if err != nil {
		return err
	}
	scheduler, err := p.OpenScheduler(s.ctx, st.problem, s.options(), nil)
	if err != nil {
		return err
	}
	return s.decideAgain(scheduler, st.acts)
}

func runAheadTrait(s *subject) error {
	st, err := s.stage(schedulerPlan{})
	if err != nil {
		return err
	}
	if n := st.traits.RunAhead; n < 0 {
		return wanted("a run_ahead of 0 or more", "%d", n)
	}
	return nil
}
