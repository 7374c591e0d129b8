package coretest

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// audit follows a machine from the outside: it keeps its own accounts from events and actions, in a
// slow and obvious way, and compares. It shares no code with the core; the messages document what it
// checks.
type audit struct {
	m       *core.Machine
	spec    core.Spec
	trials  []*account
	was     []core.State // before the event
	nodes   map[uint32]resource.Bundle
	ckpts   map[ckptKey]*ckpt
	left    map[ckptKey]bool       // in directories that trials have left
	held    map[core.TrialNo]*held // states in memory
	owed    map[uint64]attemptKey
	seen    uint64 // observations
	clock   int    // events
	at      int64
	leases  leasebook
	hosted  bool
	onHold  bool // by the user
	closing bool // before the event
	ended   bool
	holding *held // by this event
	keeping *keeping

	searchBook
}

// searchBook is what the searcher was asked and told.
type searchBook struct {
	ask         core.AskSearcher // Count 0: none
	asked       uint64           // questions
	suggested   uint64
	planned     int64
	exhausted   bool
	searchEnded bool // the scheduler was told
	vain        bool // an offer before the event would not lead to a question
	learned     int  // observations of trials of other experiments
	judging     bool // the budget's expression is to be tested before anything is asked or starts
	// together has, for each suggestion with several runs, how often the searcher was told its end; -1
	// before it was told the suggestion.
	together []int
}

type attemptKey struct {
	trial   core.TrialNo
	attempt uint32
}

type ckptKey struct {
	trial core.TrialNo
	id    uint32
}

// ckpt is a checkpoint on disk, with what the trial had reported by then.
type ckpt struct {
	iteration uint64
	values    []float64
	results   int
	valued    uint64 // iteration of the last of them
	stretch   int    // of the trial that made it
	deleted   bool
	// of is the result with which it was asked for, while that is not counted yet.
	of *core.ResultReported
}

// held is a trial's state in memory.
type held struct {
	id   uint32
	lost bool // its host is gone
	ckpt
}

func newAudit(m *core.Machine) *audit {
	return &audit{m: m, nodes: map[uint32]resource.Bundle{}, ckpts: map[ckptKey]*ckpt{}, left: map[ckptKey]bool{},
		held: map[core.TrialNo]*held{}, owed: map[uint64]attemptKey{}, leases: newLeasebook()}
}

// before enters the event itself, before the machine sees it.
func (a *audit) before(at int64, e core.Event) {
	a.clock++
	a.at = max(a.at, at)
	a.closing, a.vain = a.m.Closing(), a.m.OfferIsVain()
	a.was = a.was[:0]
	for no := range a.m.Trials() {
		a.was = append(a.was, a.m.State(core.TrialNo(no)))
	}
	a.beforeOrders(e)
	switch e := e.(type) {
	case *core.ExperimentStarted:
		a.spec = e.Spec
	case *core.SettingsChanged:
		repeat := a.spec.Repeat
		a.exhausted = a.exhausted && e.Spec.Extended == a.spec.Extended
		a.spec, a.ended, a.closing = e.Spec, false, false
		a.spec.Repeat = repeat
		a.searchEnded = a.searchEnded && a.searched()
	case *core.StopRequested:
		if t := a.trial(e.Trial); t != nil {
			t.end.byUser = true
		}
	case *core.BudgetJudged:
		a.judging = false
	case *core.PauseRequested:
		a.onHold = a.onHold || e.All
	case *core.UnpauseRequested:
		a.onHold = a.onHold && !e.All
	case *core.HostStarted:
		a.hostStarted()
	case *core.NodeJoined:
		a.nodes[e.Node.ID] = e.Node.Capacity
	case *core.NodeLeft:
		delete(a.nodes, e.ID)
		for _, t := range a.trials {
			if t.standsOn(e.ID) {
				a.nodeGone(t, e.ID)
			}
		}
	case *core.AttemptEnded:
		if t := a.live(e.Trial, e.Attempt); t != nil {
			t.doubted = t.doubted || e.RestoreFailed || e.Damaged
			t.ended = true
			t.settled()
		}
	case *core.SaveFailed:
		if t := a.live(e.Trial, e.Attempt); t != nil {
			delete(t.saves, e.ID)
			t.settled()
		}
	case *core.TrialReset:
		if t := a.trial(e.Trial); t != nil && a.resets(t, e) {
			a.reset(t, e.Fresh)
		}
	}
	a.beforeLease(e)
	a.beforePlugin(e)
}

// reset lets an ended trial run again.
func (a *audit) reset(t *account, fresh bool) {
	t.ends = 0
	if fresh {
		a.leave(t)
	}
	if s := int(t.no) / a.runs(); a.runs() > 1 {
		a.together[s] = min(a.together[s], 0)
	}
	a.ended, a.closing = false, false
}

func (a *audit) hostStarted() {
	a.hosted = true
	o, _ := a.m.Outcome()
	a.closing = o == 0 && a.ends() // it was ending for good when its host died
	a.ended = false
	clear(a.nodes)
	for _, h := range a.held {
		h.lost = true
	}
	a.ask = core.AskSearcher{}
	for _, t := range a.trials {
		t.orphaned()
		t.ticket = a.clock // in the order of their numbers
	}
}

func (a *audit) beforePlugin(e core.Event) {
	switch e := e.(type) {
	case *core.SuggestionsReceived:
		a.answered(e)
	case *core.TrialGiven:
		if o, _ := a.m.Outcome(); o == core.Finished && !a.m.Closing() {
			a.ended = false
		}
		if !a.closing || !a.ends() {
			first := len(a.trials)
			a.create(e.Suggestion, e.Extra)
			for _, t := range a.trials[first:] {
				t.clone = e.Clone
			}
			a.askLess()
		}
	case *core.ResultReported:
		if t := a.live(e.Trial, e.Attempt); t != nil && !t.ended {
			t.result = e
		}
	case *core.CheckpointSaved:
		if t := a.live(e.Trial, e.Attempt); t != nil {
			a.beforeKeeping(e)
			a.ckpts[ckptKey{e.Trial, e.ID}] = t.saved(e.ID, e.Iteration)
		}
	case *core.StateHeld:
		if t := a.live(e.Trial, e.Attempt); t != nil {
			a.holding = &held{id: e.ID, ckpt: *t.saved(e.ID, e.Iteration)}
		}
	case *core.SchedulerDecided:
		for _, d := range e.Decisions {
			if k, ok := a.owed[d.Number]; ok && d.Verdict == core.Stop {
				a.trials[k.trial].judged = true
			}
			delete(a.owed, d.Number)
		}
		for _, c := range e.Commands {
			a.ordered(c)
		}
	}
}

// askLess: a trial that is added while the searcher thinks is one of the planned ones.
func (a *audit) askLess() {
	if a.spec.Trials >= 0 {
		a.ask.Count = int(max(min(int64(a.ask.Count), a.spec.Trials-a.planned), 0))
	}
}

// nodeGone ends what ran on a node. An attempt that had ended before waits for its checkpoints, and
// holds nothing there any more.
func (a *audit) nodeGone(t *account, id uint32) {
	if !t.ended || a.spec.Rules < core.RulesV2 {
		t.over()
		return
	}
	t.slots = slices.Clone(t.slots)
	for i := range t.slots {
		if t.slots[i].Node == id {
			t.slots[i].Node = nowhere
		}
	}
}

// nowhere is a number that no node has.
const nowhere = math.MaxUint32

// resets reports whether a trial will run again: one that failed, or one that ended before its first
// attempt.
func (a *audit) resets(t *account, e *core.TrialReset) bool {
	if e.Steered && a.closing {
		return false
	}
	if e.Unstarted {
		return a.was[t.no] == core.Terminated && t.attempt == 0
	}
	return a.was[t.no] == core.Errored
}

// leave notes what stays in the directory that a trial leaves.
func (a *audit) leave(t *account) {
	for _, ref := range a.m.Checkpoints(t.no) {
		a.left[ckptKey{ref.Trial, ref.ID}] = true
	}
}

// ends reports whether the experiment ends for good: nothing new is created.
func (a *audit) ends() bool {
	o, _ := a.m.Ending()
	return o == core.Finished || o == core.StoppedByUser
}

// searched reports whether no further trial will be asked for.
func (a *audit) searched() bool {
	return a.exhausted || a.spec.Trials >= 0 && a.planned >= a.spec.Trials
}

func (a *audit) ordered(c core.Command) {
	t := a.trial(c.Trial)
	if t != nil && c.Kind == core.Exploit {
		t.vague = t.vague || t.clone && a.spec.Rules < core.RulesV2
		if !t.last && !t.end.again && !a.was[c.Trial].Final() {
			t.orders++ // unless it is refused
		}
	}
	if t == nil || c.Kind != core.Resize || c.Request == nil {
		return
	}
	if a.was[c.Trial] == core.Running {
		t.wanted = c.Request
	} else {
		t.request = c.Request
	}
}

func (a *audit) answered(e *core.SuggestionsReceived) {
	if a.ask.Count == 0 || e.Ask != a.ask.Ask {
		return
	}
	given := e.Suggestions[:min(len(e.Suggestions), a.ask.Count)]
	for _, s := range given {
		a.suggested++
		if !a.closing || !a.ends() {
			a.create(s, false)
		}
	}
	a.exhausted = e.Status == core.SearcherExhausted
	a.ask = core.AskSearcher{}
}

func (a *audit) create(s core.Suggestion, extra bool) {
	for range a.runs() {
		a.trials = append(a.trials, &account{no: core.TrialNo(len(a.trials)),
			placeBook:   placeBook{request: s.Request, ticket: a.clock},
			attemptBook: attemptBook{saves: map[uint32]*ckpt{}}})
	}
	a.together = append(a.together, -1)
	if !extra {
		a.planned++
	}
}

// runs returns how many trials a suggestion has.
func (a *audit) runs() int { return max(int(a.spec.Repeat), 1) }

func (a *audit) trial(no core.TrialNo) *account {
	if int(no) >= len(a.trials) {
		return nil
	}
	return a.trials[no]
}

func (a *audit) live(no core.TrialNo, attempt uint32) *account {
	if t := a.trial(no); t != nil && t.live && t.attempt == attempt {
		return t
	}
	return nil
}

// after checks what the machine did.
func (a *audit) after(e core.Event, actions []core.Action) error {
	if _, offer := e.(*core.OfferMade); offer && a.vain && len(actions) > 0 {
		return fmt.Errorf("the offer was said to change nothing, and led to %T", actions[0])
	}
	for _, x := range actions {
		if err := a.action(x); err != nil {
			return fmt.Errorf("%T %+v: %w", x, x, err)
		}
	}
	if err := a.memory(e); err != nil {
		return err
	}
	if err := a.keptWell(); err != nil {
		return err
	}
	if a.m.Trials() != len(a.trials) {
		return fmt.Errorf("%d trials exist, but %d were given", a.m.Trials(), len(a.trials))
	}
	for _, t := range a.trials {
		if err := a.compare(e, t); err != nil {
			return fmt.Errorf("trial %d: %w", t.no, err)
		}
		t.result = nil
	}
	if err := a.leasesWhole(e); err != nil {
		return err
	}
	return a.whole()
}

// memory enters the states held by this event. It checks that states of a dead host were dropped, and
// that no ended trial has one.
func (a *audit) memory(e core.Event) error {
	if a.holding != nil && !a.m.State(e.(*core.StateHeld).Trial).Final() {
		a.held[e.(*core.StateHeld).Trial] = a.holding
	}
	a.holding = nil
	for no, h := range a.held {
		if h.lost || a.m.State(no).Final() {
			return fmt.Errorf("trial %d: #%d is still held in memory", no, h.id)
		}
	}
	return nil
}

// whole checks what is true of all trials together.
func (a *audit) whole() error {
	if a.m.Planned() != a.planned {
		return fmt.Errorf("%d trials are planned, but it counts %d", a.planned, a.m.Planned())
	}
	if err := a.resources(); err != nil {
		return err
	}
	if o, _ := a.m.Outcome(); a.hosted && o == 0 && a.searchEnded != a.searched() {
		return fmt.Errorf("the search's end was told is %t", a.searchEnded)
	}
	for number := range a.owed {
		if k := a.owed[number]; !a.m.AwaitsDecision(number) || a.m.State(k.trial).Final() {
			return fmt.Errorf("decision %d of trial %d (%s): owed is %t", number, k.trial, a.m.State(k.trial),
				a.m.AwaitsDecision(number))
		}
	}
	return a.idleSlot()
}

// resources adds up the grants, node by node.
func (a *audit) resources() error {
	used := map[string]resource.Amount{}
	for _, id := range slices.Sorted(maps.Keys(a.nodes)) {
		here := map[string]resource.Amount{}
		for _, t := range a.trials {
			t.charge(id, here)
		}
		for name, x := range here {
			if a.nodes[id].Get(name).Cmp(x) < 0 {
				return fmt.Errorf("node %d: %s of %s is granted", id, x, name)
			}
			used[name] = used[name].Add(x)
		}
	}
	for _, t := range a.trials {
		if t.beyond && len(t.slots) > 0 {
			for _, it := range t.held.Bundles()[0].Items() {
				used[it.Name] = used[it.Name].Add(it.Amount)
			}
		}
	}
	for _, u := range a.m.Usage() {
		if !a.spec.Manual && used[u.Name] != u.Used {
			return fmt.Errorf("%s, but trials hold %s", u, used[u.Name])
		}
	}
	return nil
}

// kept checks that a checkpoint that a trial uses exists, and that an unused one is deleted.
func (a *audit) kept() error {
	named := maps.Clone(a.left)
	for _, t := range a.trials {
		if from := a.m.From(t.no); t.attempt == 0 && from.ID != 0 {
			named[ckptKey{from.Trial, from.ID}] = true // it may still run
		}
		for _, ref := range a.m.Checkpoints(t.no) {
			named[ckptKey{ref.Trial, ref.ID}] = true
		}
	}
	if a.m.NeverStarted() > 0 { // the checkpoint of such a trial is kept for its first start
		a.m.EachCheckpoint(func(ref core.CheckpointRef) { named[ckptKey{ref.Trial, ref.ID}] = true })
	}
	for k, c := range a.ckpts {
		if c.deleted == named[k] {
			return fmt.Errorf("checkpoint #%d of trial %d: named is %t, deleted is %t", k.id, k.trial, named[k],
				c.deleted)
		}
	}
	return nil
}

// startsTrials reports that trials can start as far as resources allow.
func (a *audit) startsTrials() bool {
	if o, _ := a.m.Outcome(); !a.hosted || a.onHold || a.m.Orphans() > 0 || a.m.Closing() || o != 0 {
		return false
	}
	if a.judging { // something may begin with the answer
		return false
	}
	if limit := int(a.spec.Budget.TrialsFailed); limit > 0 && a.m.Count(core.Errored) >= limit {
		return false // it is about to end
	}
	c := int(a.spec.Concurrency)
	return c == 0 || a.m.Running() < c
}

// idleSlot checks that no slot is free that each waiting trial would fit.
func (a *audit) idleSlot() error {
	if !a.startsTrials() || a.m.Count(core.Pending) == 0 || a.spec.Leases != nil {
		return nil
	}
	if a.spec.Manual {
		if a.m.Offers() > 0 {
			return fmt.Errorf("%d offers, but %d trials wait", a.m.Offers(), a.m.Count(core.Pending))
		}
		return nil
	}
	for _, t := range a.trials {
		if a.m.State(t.no) == core.Pending && !a.fits(t) {
			return nil
		}
	}
	return fmt.Errorf("%d trials wait, and each of them would fit", a.m.Count(core.Pending))
}

// fits tries a request without a group on each node; groups count as not fitting.
func (a *audit) fits(t *account) bool {
	r := t.asks(a.spec)
	if len(r.Bundles()) != 1 {
		return false
	}
	for id, capacity := range a.nodes {
		here := map[string]resource.Amount{}
		for _, t := range a.trials {
			t.charge(id, here)
		}
		ok := true
		for _, it := range r.Bundles()[0].Items() {
			ok = ok && capacity.Get(it.Name).Cmp(here[it.Name].Add(it.Amount)) >= 0
		}
		if ok {
			return true
		}
	}
	return false
}

// atEnd checks an experiment that has ended for good.
func (a *audit) atEnd(s core.Spec) error {
	for _, t := range a.trials {
		if !a.m.State(t.no).Final() {
			return fmt.Errorf("trial %d is %s at the end", t.no, a.m.State(t.no))
		}
		if t.ends != 1 {
			return fmt.Errorf("the end of trial %d was told %d times", t.no, t.ends)
		}
	}
	for i, ends := range a.together {
		if a.runs() > 1 && ends != 1 {
			return fmt.Errorf("the end of suggestion %d was told %d times", i, ends)
		}
	}
	if err := a.kept(); err != nil {
		return err
	}
	o, why := a.m.Outcome()
	if o == core.Finished && why.Kind == core.CauseNone && !a.exhausted && a.planned != s.Trials {
		return fmt.Errorf("%d trials were made, but %d are planned", a.planned, s.Trials)
	}
	return nil
}
