package coretest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// account is the audit's book of one trial.
type account struct {
	no      core.TrialNo
	request *resource.Request // its own
	wanted  *resource.Request // from the pause on that is coming
	held    resource.Request  // of the attempt that runs
	slots   []resource.Slot
	beyond  bool // nothing was granted for it
	attempt uint32
	live    bool
	last    bool // Done was said
	orphan  bool // its host has died, and checkpoints of it are still to be taken
	judged  bool // the scheduler stops it, perhaps after a save
	ended   bool // but for its saves
	refused bool // a result was: the trainable is ahead of what is counted
	clone   bool // it was given to start from another's checkpoint, with no results
	doubted bool // one of its checkpoints could not be loaded
	vague   bool // and then, perhaps, to go on from it as the other would
	ends    int  // how often its end was told
	pausing int  // the event with which it was told to
	ticket  int  // the event with which it began to wait
	front   bool

	end endings

	orders  int    // to go on from a checkpoint, from the next start on
	stretch int    // how often it did
	before  int    // results of earlier stretches
	known   *known // by the last of them that had any

	iteration uint64
	valued    uint64 // iteration of the last result that counts
	told      uint64 // the highest that the searcher has heard of
	values    []float64
	results   int
	accepted  int // by this attempt
	credits   int
	saves     map[uint32]*ckpt // under way
	inMemory  uint32           // one of them, which dies with the host
	result    *core.ResultReported
}

// known is what a trial shows of an earlier stretch while it has no result in the present one.
type known struct {
	iteration uint64
	values    []float64
}

// branch begins another stretch (B-154).
func (t *account) branch(iteration uint64) {
	if t.results > 0 {
		t.before += t.results
		t.known = &known{t.valued, t.values}
	}
	t.stretch++
	t.told = iteration
}

// over is the end of an attempt, by which what it held is free.
func (t *account) over() {
	t.live, t.ended, t.last, t.orphan, t.slots = false, false, false, false, nil
	clear(t.saves)
}

// ending is over once no save is under way.
func (t *account) settled() {
	if t.ended && len(t.saves) == 0 {
		t.over()
	}
}

func (t *account) asks(s core.Spec) resource.Request {
	if t.request != nil {
		return *t.request
	}
	return s.Request
}

func (t *account) standsOn(node uint32) bool {
	return slices.ContainsFunc(t.slots, func(s resource.Slot) bool { return s.Node == node })
}

// mayStandOn checks a placement that nothing was granted for: one at a time, of trials
// for which there is no room.
func (a *audit) mayStandOn(t *account, p resource.Placement) error {
	if !p.Beyond {
		return nil
	}
	if !a.spec.Overcommit || a.fits(t) {
		return errors.New("it is started beyond what is free")
	}
	for _, other := range a.trials {
		if other.beyond && len(other.slots) > 0 {
			return fmt.Errorf("it is started beyond what is free, and so is %d", other.no)
		}
	}
	return nil
}

// charge adds what the trial holds of a node.
func (t *account) charge(node uint32, s core.Spec, to map[string]resource.Amount) {
	if t.beyond {
		return
	}
	for i, slot := range t.slots {
		if slot.Node != node {
			continue
		}
		for _, it := range t.held.Bundles()[i].Items() {
			to[it.Name] = to[it.Name].Add(it.Amount)
		}
	}
}

func (a *audit) action(x core.Action) error {
	switch x := x.(type) {
	case core.AskSearcher:
		return a.asks(x)
	case core.Tell:
		return a.tell(x.Observation)
	case core.StartAttempt:
		return a.start(x)
	case core.ContinueAttempt:
		return a.goOn(x)
	case core.SaveAttempt:
		return a.save(x.Trial, x.Attempt, x.ID, x.Iteration)
	case core.TakeCheckpoint:
		if x.Again {
			return a.takeAgain(x)
		}
		return a.save(x.Trial, x.Attempt, x.ID, x.Iteration)
	case core.StopAttempt:
		if t := a.live(x.Trial, x.Attempt); t == nil || t.ended {
			return errors.New("it does not run")
		}
		if x.Paused {
			a.trials[x.Trial].pausing = a.clock
		}
		a.trials[x.Trial].end.stopped = !x.Paused
		if x.SaveID != 0 {
			t := a.trials[x.Trial] // it may be of a later result, too: see saved
			t.saves[x.SaveID] = &ckpt{iteration: t.iteration, values: slices.Clone(t.values), results: t.results, valued: t.valued, stretch: t.stretch}
			if x.Memory {
				t.saves[x.SaveID], t.inMemory = nil, x.SaveID
			}
		}
	case core.KillAttempt:
		if t := a.live(x.Trial, x.Attempt); t == nil || t.ended {
			return errors.New("it does not run")
		}
	case core.Warn:
		if x.HasTrial {
			a.trials[x.Trial].warned(x.Cause)
		}
		return a.refusedResize(x)
	case core.DeleteCheckpoint:
		return a.remove(x)
	case core.DropState:
		return a.drop(x)
	case core.Finish:
		return a.finish()
	}
	return nil
}

// made says whether the checkpoint is of the trial's present stretch.
func (t *account) made(ref core.CheckpointRef, c *ckpt) bool {
	return ref.Trial == t.no && c.stretch == t.stretch
}

// refusedOrder is that of a checkpoint that does not exist.
func (a *audit) refusedOrder(x core.Warn) {
	if x.Cause.Kind == core.CauseExploitRefused {
		a.trials[x.Trial].orders--
	}
}

// refusedResize: what a trial asks for is not changed while it runs on.
func (a *audit) refusedResize(x core.Warn) error {
	a.refusedOrder(x)
	if x.Cause.Kind != core.CauseResizeRefused {
		return nil
	}
	if a.trials[x.Trial].pausing == a.clock {
		return errors.New("the same answer pauses it")
	}
	a.trials[x.Trial].wanted = nil
	return nil
}

// resized: from a pause on a trial asks for what was ordered while it ran.
func (t *account) resized() {
	if t.wanted != nil {
		t.request, t.wanted = t.wanted, nil
	}
}

func (a *audit) finish() error {
	switch {
	case a.ended:
		return errors.New("it is finished already")
	case a.m.Count(core.Running) > 0:
		return errors.New("trials run")
	}
	a.ended = true
	return nil
}

// asks checks a question against what could run: the bound of trials, that of
// trials at a time, and never two questions at once.
func (a *audit) asks(x core.AskSearcher) error {
	waiting, running := a.m.Count(core.Pending), a.m.Count(core.Running)
	limit := math.MaxInt
	if a.spec.Concurrency > 0 {
		limit = int(a.spec.Concurrency) - running
	}
	if a.spec.Manual {
		limit = min(limit, a.m.Offers())
	} else if a.spec.Independent {
		limit = max(min(limit, 1024), 0) + 64 - waiting
	}
	if limit < math.MaxInt {
		limit = (limit + a.runs() - 1) / a.runs()
	}
	switch {
	case a.ask.Count > 0:
		return errors.New("the last question is not answered")
	case x.Ask != a.asked:
		return fmt.Errorf("it is question %d", a.asked)
	case x.First != a.suggested:
		return fmt.Errorf("%d suggestions were made", a.suggested)
	case x.Count < 1 || x.Count > limit:
		return fmt.Errorf("%d are wanted", limit)
	case a.spec.Trials >= 0 && int64(x.Count) > a.spec.Trials-a.planned:
		return fmt.Errorf("%d of %d are made", a.planned, a.spec.Trials)
	case a.exhausted:
		return errors.New("the searcher is exhausted")
	case a.closing || a.ended:
		return errors.New("the experiment is ending")
	case a.onHold:
		return errors.New("the user has paused the experiment")
	}
	a.ask = x
	a.asked++
	return nil
}

// start checks that a trial may run now, and where it goes on from.
func (a *audit) start(x core.StartAttempt) error {
	t := a.trial(x.Trial)
	switch {
	case t == nil:
		return errors.New("it does not exist")
	case t.live:
		return errors.New("it runs already")
	case x.Attempt != t.attempt+1:
		return fmt.Errorf("the last attempt was %d", t.attempt)
	case t.ends > 0:
		return errors.New("its end was told")
	case a.closing || a.ended || !a.hosted:
		return errors.New("the experiment is ending")
	case a.onHold:
		return errors.New("the user has paused the experiment")
	}
	if err := a.mayStandOn(t, x.Placement); err != nil {
		return err
	}
	t.live, t.attempt, t.held, t.slots, t.beyond = true, x.Attempt, t.asks(a.spec), x.Placement.Slots, x.Placement.Beyond
	t.accepted, t.credits, t.refused, t.judged = 0, 0, false, false
	t.end = endings{again: t.end.again, at: t.end.at}
	if t.orders > 0 && a.spec.Rules >= core.RulesV2 && t.attempt > 1 {
		t.branch(x.Restore.Iteration)
	}
	t.orders = 0
	if x.Restore.ID == 0 {
		if !a.spec.Manual { // there, the caller keeps its state
			t.forget()
		}
		return a.inTurn(t)
	}
	if x.Restore.Trial == core.NoTrial {
		if a.spec.Start == nil || x.Restore != core.StartRef(*a.spec.Start) {
			return errors.New("no such checkpoint was given")
		}
		t.forget()
		t.iteration = a.spec.Start.Iteration
		return a.inTurn(t)
	}
	c, err := a.source(x)
	if err != nil {
		return err
	}
	if c == nil || c.deleted || c.iteration != x.Restore.Iteration {
		return fmt.Errorf("its checkpoint is %+v", c)
	}
	t.iteration, t.valued, t.values, t.results = c.iteration, c.valued, slices.Clone(c.values), c.results
	if t.clone && x.Restore.Trial != t.no || a.spec.Rules >= core.RulesV2 && !t.made(x.Restore, c) {
		t.values, t.results = nil, 0
	}
	return a.inTurn(t)
}

// inTurn checks the order of those that waited before this event.
func (a *audit) inTurn(t *account) error {
	if int(t.no) >= len(a.was) || a.was[t.no] != core.Pending || t.ticket == a.clock {
		return nil
	}
	for _, u := range a.trials[:len(a.was)] {
		before := u.front && !t.front || u.front == t.front && u.ticket < t.ticket
		if before && a.was[u.no] == core.Pending && a.m.State(u.no) == core.Pending && u.ticket != a.clock {
			return fmt.Errorf("trial %d waits since event %d, this one since %d", u.no, u.ticket, t.ticket)
		}
	}
	return nil
}

func (a *audit) goOn(x core.ContinueAttempt) error {
	t := a.live(x.Trial, x.Attempt)
	if t == nil || t.ended {
		return errors.New("it does not run")
	}
	if t.credits += int(x.Credits); t.credits > t.accepted || x.Credits == 0 {
		return fmt.Errorf("%d credits for %d results", t.credits, t.accepted)
	}
	return nil
}

func (a *audit) save(no core.TrialNo, attempt, id uint32, iteration uint64) error {
	t := a.live(no, attempt)
	if t == nil || t.result == nil {
		return errors.New("it has not reported")
	}
	if _, twice := a.ckpts[ckptKey{no, id}]; twice {
		return errors.New("there is one of this number")
	}
	t.saves[id] = &ckpt{iteration: iteration, stretch: t.stretch, of: t.result}
	if iteration == t.iteration { // of the last that counts: this result came after the stop
		t.saves[id].values, t.saves[id].results, t.saves[id].valued = slices.Clone(t.values), t.results, t.valued
	}
	return nil
}

// takeAgain: the next host takes what the attempt of the one that died still owes.
func (a *audit) takeAgain(x core.TakeCheckpoint) error {
	t := a.live(x.Trial, x.Attempt)
	if t == nil || !t.orphan {
		return errors.New("its host has not died")
	}
	if c, ok := t.saves[x.ID]; !ok || c != nil && c.iteration != x.Iteration {
		return fmt.Errorf("%+v is under way", t.saves)
	}
	return nil
}

// orphaned: its host has died. What it owes is taken by the next one, and then it is over.
func (t *account) orphaned() {
	delete(t.saves, t.inMemory)
	t.end.cut = t.end.cut || t.live && !t.ended && t.accepted > 0 && t.ends == 0 && t.stops()
	if len(t.saves) == 0 || !t.live {
		t.over()
		return
	}
	t.ended, t.orphan, t.slots = true, true, nil
}

// saved takes a checkpoint into the books, with what had been reported when it
// was asked for.
func (t *account) saved(id uint32, iteration uint64) *ckpt {
	c := t.saves[id]
	if c == nil || c.iteration != iteration { // it had gone on
		c = &ckpt{iteration: iteration, values: slices.Clone(t.values), results: t.results, valued: t.valued, stretch: t.stretch}
	}
	delete(t.saves, id)
	t.settled()
	return c
}

// drop checks that there is something to be dropped from memory.
func (a *audit) drop(x core.DropState) error {
	if a.holding != nil && a.holding.id == x.ID { // the trial has ended with the event
		a.holding = nil
		return nil
	}
	if h := a.held[x.Trial]; h == nil || h.id != x.ID {
		return fmt.Errorf("%+v is held", h)
	}
	delete(a.held, x.Trial)
	return nil
}

// source is what the attempt goes on from: the state in memory comes first.
func (a *audit) source(x core.StartAttempt) (*ckpt, error) {
	h := a.held[x.Trial]
	if (h != nil) != x.Memory {
		return nil, fmt.Errorf("%+v is held in memory", h)
	}
	if h != nil {
		if h.id != x.Restore.ID || h.lost || x.Restore.Trial != x.Trial {
			return nil, fmt.Errorf("%+v is held in memory", h)
		}
		return &h.ckpt, nil
	}
	return a.ckpts[ckptKey{x.Restore.Trial, x.Restore.ID}], nil
}

// remove checks that no trial names the checkpoint any more; kept checks the
// reverse.
func (a *audit) remove(x core.DeleteCheckpoint) error {
	c := a.ckpts[ckptKey{x.Trial, x.ID}]
	if c == nil || c.deleted {
		return errors.New("there is none")
	}
	for _, t := range a.trials {
		for _, ref := range a.m.Checkpoints(t.no) {
			if ref.Trial == x.Trial && ref.ID == x.ID {
				return fmt.Errorf("trial %d names it", t.no)
			}
		}
	}
	c.deleted = true
	return nil
}
