package coretest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// account is the audit's account of one trial.
type account struct {
	placeBook
	attemptBook
	orderBook
	no        core.TrialNo
	clone     bool // it starts from another's checkpoint, without results
	doubted   bool // one of its checkpoints could not be loaded
	vague     bool // and it may continue from it as the other would
	ends      int  // how often its end was reported
	end       endings
	orders    int    // orders to continue from a checkpoint at the next start
	stretch   int    // how often it did
	before    int    // results of earlier stretches
	known     *known // from the last earlier stretch with results
	iteration uint64
	valued    uint64 // iteration of the last result that counts
	told      uint64 // the highest that the searcher was told
	values    []float64
	results   int
}

// placeBook is what a trial asks for and has.
type placeBook struct {
	request *resource.Request // its own
	wanted  *resource.Request // from the coming pause on
	held    resource.Request  // by the running attempt
	slots   []resource.Slot
	lease   core.LeaseID // 0: none, or it is lost
	beyond  bool         // it runs without a grant
	ticket  int          // the event at which it began to wait
	front   bool
}

// attemptBook is the running attempt.
type attemptBook struct {
	attempt  uint32
	live     bool
	begun    int  // the event with which the attempt was started
	last     bool // Done was said
	orphan   bool // its host has died, and checkpoints of it are still to be taken
	judged   bool // the scheduler stops it, perhaps after a save
	ended    bool // except for its saves
	refused  bool // a result was refused: the trainable is ahead of what is counted
	pausing  int  // the event that told it to
	accepted int  // by this attempt
	credits  int
	saves    map[uint32]*ckpt // in progress
	inMemory uint32           // one of them, which is lost with the host
	result   *core.ResultReported
}

// known is what represents a trial that has no result in its present stretch.
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

// over ends an attempt, and frees what it held.
func (t *account) over() {
	t.live, t.ended, t.last, t.orphan, t.slots, t.lease = false, false, false, false, nil, 0
	clear(t.saves)
}

// settled ends the trial's attempt once no save is in progress.
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

// mayStandOn checks a placement without a grant: one at a time, of a trial for which there is no room.
func (a *audit) mayStandOn(t *account, p resource.Placement) error {
	if !p.Beyond {
		return nil
	}
	if !a.spec.Overcommit || a.fits(t) {
		return errors.New("it is started beyond the free resources")
	}
	for _, other := range a.trials {
		if other.beyond && len(other.slots) > 0 {
			return fmt.Errorf("it is started beyond the free resources, and so is %d", other.no)
		}
	}
	return nil
}

// charge adds what the trial holds of a node.
func (t *account) charge(node uint32, to map[string]resource.Amount) {
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
	case *core.Tell:
		return a.tell(x.Observation)
	case core.StartAttempt:
		return a.start(x)
	case core.ContinueAttempt:
		return a.continueAttempt(x)
	case core.SaveAttempt:
		return a.save(x.Trial, x.Attempt, x.ID, x.Iteration)
	case core.TakeCheckpoint:
		if x.Again {
			return a.takeAgain(x)
		}
		return a.save(x.Trial, x.Attempt, x.ID, x.Iteration)
	case core.StopAttempt:
		if a.leases.killed == (attemptKey{x.Trial, x.Attempt}) && x.SaveID == 0 {
			return nil
		}
		if t := a.live(x.Trial, x.Attempt); t == nil || t.ended {
			return errors.New("it does not run")
		}
		if x.Paused {
			a.trials[x.Trial].pausing = a.clock
		}
		a.trials[x.Trial].end.stopped = !x.Paused
		if x.SaveID != 0 {
			t := a.trials[x.Trial] // it may be of a later result, too: see saved
			t.saves[x.SaveID] = &ckpt{iteration: t.iteration, values: slices.Clone(t.values), results: t.results,
				valued: t.valued, stretch: t.stretch}
			if x.Memory {
				t.saves[x.SaveID], t.inMemory = nil, x.SaveID
			}
		}
	case core.KillAttempt:
		if a.leases.killed == (attemptKey{x.Trial, x.Attempt}) {
			return nil
		}
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
	case core.JudgeBudget:
		a.judging = true
	case core.Finish:
		return a.finish()
	}
	return a.leaseAction(x)
}

// made reports whether the checkpoint is of the trial's present stretch.
func (t *account) made(ref core.CheckpointRef, c *ckpt) bool {
	return ref.Trial == t.no && c.stretch == t.stretch
}

// refusedOrder checks the refusal of an order that names a checkpoint that does not exist.
func (a *audit) refusedOrder(x core.Warn) {
	if x.Cause.Kind == core.CauseExploitRefused {
		a.trials[x.Trial].orders--
	}
}

// refusedResize checks that a trial that continues to run keeps its request.
func (a *audit) refusedResize(x core.Warn) error {
	a.refusedOrder(x)
	if x.Cause.Kind != core.CauseResizeRefused {
		return nil
	}
	if a.trials[x.Trial].pausing == a.clock && !a.trials[x.Trial].toEnd {
		return errors.New("the same answer pauses it")
	}
	a.trials[x.Trial].wanted = nil
	return nil
}

// resized applies, from a pause on, the request that was ordered while the trial ran.
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
	case len(a.leases.held) > 0:
		return fmt.Errorf("%d leases are held", len(a.leases.held))
	}
	a.ended = true
	return nil
}

// asks checks a question: the limit of trials, the limit of running trials, and never two questions at
// once.
func (a *audit) asks(x core.AskSearcher) error {
	waiting, running := a.m.Count(core.Pending), a.m.Count(core.Running)
	limit := math.MaxInt
	if a.spec.Concurrency > 0 {
		limit = int(a.spec.Concurrency) - running
	}
	if a.spec.Manual {
		limit = min(limit, a.m.Offers())
	} else if a.spec.Leases != nil {
		limit = min(limit, a.suggestible())
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

// start checks that a trial may run now, and what it starts from.
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
	if err := a.startOn(t, x.Lease); err != nil {
		return err
	}
	t.live, t.attempt, t.held, t.slots, t.beyond = true, x.Attempt, t.asks(a.spec), x.Placement.Slots,
		x.Placement.Beyond
	if x.Lease != 0 {
		t.slots = nil
	}
	t.accepted, t.credits, t.refused, t.judged, t.begun = 0, 0, false, false, a.clock
	t.end = endings{again: t.end.again, at: t.end.at}
	if t.orders > 0 && a.spec.Rules >= core.RulesV2 && t.attempt > 1 {
		t.branch(x.Restore.Iteration)
	}
	t.orders = 0
	if x.Restore.ID == 0 {
		if !a.spec.Manual { // with Manual the caller keeps its state
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

// inTurn checks the order of the trials that waited before this event.
func (a *audit) inTurn(t *account) error {
	if int(t.no) >= len(a.was) || a.was[t.no] != core.Pending || t.ticket == a.clock {
		return nil
	}
	if l := a.leases.held[t.lease]; l != nil && l.trial == t.no {
		return nil // its own lease
	}
	for _, u := range a.trials[:len(a.was)] {
		before := u.front && !t.front || u.front == t.front && u.ticket < t.ticket
		before = before && (t.lease == 0 || u.asks(a.spec).Equal(t.held))
		if before && a.was[u.no] == core.Pending && a.m.State(u.no) == core.Pending && u.ticket != a.clock {
			return fmt.Errorf("trial %d waits since event %d, this one since %d", u.no, u.ticket, t.ticket)
		}
	}
	return nil
}

func (a *audit) continueAttempt(x core.ContinueAttempt) error {
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
	if iteration == t.iteration { // the last that counts: this result came after the stop
		t.saves[id].values, t.saves[id].results, t.saves[id].valued = slices.Clone(t.values), t.results, t.valued
	}
	return nil
}

// takeAgain: the next host takes what the attempt of a dead host still owes.
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

// orphaned: its host has died. The next host takes what it owes, and then it is over.
func (t *account) orphaned() {
	delete(t.saves, t.inMemory)
	t.end.cut = t.end.cut || t.live && !t.ended && t.accepted > 0 && t.ends == 0 && t.stops()
	if len(t.saves) == 0 || !t.live {
		t.over()
		return
	}
	t.ended, t.orphan, t.slots, t.lease = true, true, nil, 0
}

// saved enters a checkpoint, with the results so far when it was asked for.
func (t *account) saved(id uint32, iteration uint64) *ckpt {
	c := t.saves[id]
	if c == nil || c.iteration != iteration { // it had continued
		c = &ckpt{iteration: iteration, values: slices.Clone(t.values), results: t.results, valued: t.valued,
			stretch: t.stretch}
	}
	delete(t.saves, id)
	t.settled()
	return c
}

// drop checks that there is a state in memory to drop.
func (a *audit) drop(x core.DropState) error {
	if a.holding != nil && a.holding.id == x.ID { // the event ended the trial
		a.holding = nil
		return nil
	}
	if h := a.held[x.Trial]; h == nil || h.id != x.ID {
		return fmt.Errorf("%+v is held", h)
	}
	delete(a.held, x.Trial)
	return nil
}

// source returns what the attempt starts from: the state in memory comes first.
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

// remove checks that no trial uses the checkpoint any more; kept checks the reverse.
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
