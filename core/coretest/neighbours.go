package coretest

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
)

// actRandomly lets one participant act, or something go wrong.
func (w *World) actRandomly() []core.Event {
	switch {
	case w.wrong() && w.one(3):
		return w.misfortune()
	case w.one(12):
		return w.user()
	case w.one(12):
		return w.orders()
	case w.one(20):
		return w.tick()
	}
	return w.somebody()
}

// somebody lets one of the participants act that have something to do.
func (w *World) somebody() []core.Event {
	var can []func() []core.Event
	if len(w.asks) > 0 {
		can = append(can, w.searcher)
	}
	if len(w.owed) > 0 {
		can = append(can, w.scheduler)
	}
	for _, p := range w.procs {
		if f := w.possibleActs(p); f != nil {
			can = append(can, f)
		}
	}
	can = append(can, w.engines()...)
	if w.judging {
		can = append(can, w.judge)
	}
	if w.spec.Manual && w.M.Offers() == 0 {
		can = append(can, func() []core.Event { return []core.Event{&core.OfferMade{}} })
	}
	if len(can) == 0 {
		return nil
	}
	return pick(w, can)()
}

// actOrderly lets all participants do what they should; if all wait for each other, it repairs what was
// left broken.
func (w *World) actOrderly() []core.Event {
	switch {
	case w.done():
		return w.hostEvents()
	case slices.Contains(w.nodes, false):
		return w.nodeBack()
	case w.timer > 0 && w.timer <= w.at: // an idle caller offers again and again
		return w.tick()
	}
	if events := w.somebody(); events != nil {
		return events
	}
	if w.audit.onHold {
		return []core.Event{&core.UnpauseRequested{All: true}}
	}
	if e := w.resumePaused(); e != nil {
		return []core.Event{e}
	}
	if w.M.Offers() > 0 { // the searcher said "not yet"; the caller tries again
		return []core.Event{&core.OfferWithdrawn{}, &core.OfferMade{}}
	}
	return w.tick()
}

// resumePaused resumes trials, each on behalf of the one who has paused it.
func (w *World) resumePaused() core.Event {
	e := &core.SchedulerDecided{}
	for no := range w.M.Trials() {
		if w.M.View(core.TrialNo(no)).Held {
			return &core.UnpauseRequested{Trial: core.TrialNo(no)}
		}
		if w.M.State(core.TrialNo(no)) == core.Paused {
			e.Commands = append(e.Commands, core.Command{Kind: core.Resume, Trial: core.TrialNo(no)})
		}
	}
	if e.Commands == nil {
		return nil
	}
	return e
}

func (w *World) judge() []core.Event {
	w.judging = false
	if !w.calm && w.one(30) {
		return []core.Event{&core.BudgetJudged{Cause: &core.Cause{Kind: core.CauseBudgetExpression, Text: "enough"}}}
	}
	return []core.Event{&core.BudgetJudged{}}
}

func (w *World) tick() []core.Event {
	w.at, w.timer = max(w.at, w.timer), 0
	return []core.Event{&core.Ticked{}}
}

func (w *World) searcher() []core.Event {
	a := w.asks[0]
	w.asks = w.asks[1:]
	e := &core.SuggestionsReceived{Ask: a.Ask}
	n := a.Count
	if !w.calm {
		e.Status = core.SearcherStatus(max(0, w.r.IntN(12)-9))
		n = w.r.IntN(a.Count + 2)
	}
	if w.spec.Trials < 0 && (w.calm || w.M.Trials() > 12) {
		n, e.Status = min(n, 1), core.SearcherExhausted
	}
	for range n {
		e.Suggestions = append(e.Suggestions, w.suggestion())
	}
	w.old = append(w.old, e)
	return []core.Event{e}
}

func (w *World) suggestion() core.Suggestion {
	s := params(w.M.Trials())
	if w.one(6) {
		s.Request = w.request()
	}
	return s
}

// scheduler decides one result or several.
func (w *World) scheduler() []core.Event {
	e := &core.SchedulerDecided{}
	n := 1 + w.r.IntN(min(3, len(w.owed)))
	for _, number := range w.owed[:n] {
		d := core.Decision{Number: number, Reason: "decided"}
		if !w.calm {
			d.Verdict = pick(w, []core.Verdict{0, 0, 0, 0, core.Pause, core.Stop})
		}
		if w.one(8) {
			d.Until = w.r.Uint64N(8)
		}
		e.Decisions = append(e.Decisions, d)
	}
	w.owed = w.owed[n:]
	if w.wrong() {
		e.Decisions = append(e.Decisions, e.Decisions[0]) // said twice
	}
	if w.one(8) {
		e.Commands = w.orders()[0].(*core.SchedulerDecided).Commands
	}
	w.old = append(w.old, e)
	return []core.Event{e}
}

// orders are the scheduler's commands, sensible or not.
func (w *World) orders() []core.Event {
	if w.M.Trials() == 0 {
		return nil
	}
	list := []core.Command{w.order(w.any())}
	for w.one(3) {
		list = append(list, w.order(list[0].Trial))
	}
	return []core.Event{&core.SchedulerDecided{Commands: list}}
}

func (w *World) order(no core.TrialNo) core.Command {
	c := core.Command{Kind: core.CommandKind(1 + w.r.IntN(4)), Trial: no, Donor: w.any(), Reason: "ordered"}
	switch c.Kind {
	case core.Exploit:
		c.Iteration = w.r.Uint64N(4)
		if !w.one(6) {
			c.Params = []byte(`{"x":"explored"}`)
		}
	case core.Resize:
		c.Request = w.request()
	}
	return c
}

// any returns a trial, sometimes one that does not exist.
func (w *World) any() core.TrialNo { return core.TrialNo(w.r.IntN(w.M.Trials() + w.r.IntN(2))) }

func (w *World) user() []core.Event {
	if w.M.Trials() == 0 {
		return nil
	}
	no, all := w.any(), w.one(6)
	switch k := w.r.IntN(40); {
	case k < 6:
		return []core.Event{&core.StopRequested{Trial: no}}
	case k < 14:
		return []core.Event{&core.PauseRequested{Trial: no, All: all}}
	case k < 24:
		return []core.Event{&core.UnpauseRequested{Trial: no, All: all}}
	case k < 28:
		return []core.Event{&core.TrialReset{Trial: no, Scratch: w.one(2), Fresh: w.one(3), Unstarted: w.one(2),
			Steered: w.one(2)}}
	case k < 31:
		return []core.Event{&core.TrialGiven{Suggestion: w.suggestion(), Extra: true}}
	case k < 33:
		return []core.Event{&core.Interrupted{}}
	case k < 34:
		return []core.Event{&core.StopRequested{All: true}}
	case k < 37 && w.spec.Manual:
		return []core.Event{&core.OfferWithdrawn{}}
	}
	return nil
}

// possibleActs returns what a trainable can do next, nil for nothing.
func (w *World) possibleActs(p *proc) func() []core.Event {
	switch {
	case p.ended:
		return func() []core.Event { return w.saves(p) }
	case w.wrong():
		return func() []core.Event { return w.crash(p) }
	case !p.started:
		p.started = true
		return func() []core.Event {
			return []core.Event{&core.AttemptStarted{Trial: p.trial, Attempt: p.attempt, PID: 1}}
		}
	case len(p.saves) > 0 && (p.credits == 0 || p.stop || p.last || w.one(2)):
		return func() []core.Event { return w.saves(p) }
	case p.stop && !w.one(4), p.last:
		return func() []core.Event { return w.leaves(p) }
	case p.credits > 0 && p.iter >= p.length && !p.stop:
		p.last = true
		return func() []core.Event { return w.leaves(p) }
	case p.credits > 0:
		return func() []core.Event { return w.reports(p) }
	case p.stop:
		return func() []core.Event { return w.leaves(p) }
	}
	return nil
}

func (w *World) saves(p *proc) []core.Event {
	x := p.saves[0]
	if p.saves = p.saves[1:]; p.ended && len(p.saves) == 0 {
		w.gone(p)
	}
	if w.wrong() || x.iteration == never {
		return []core.Event{&core.SaveFailed{Trial: p.trial, Attempt: p.attempt, ID: x.id, Error: "disk full",
			GivenUp: w.interrupted() && !x.memory && w.one(2)}}
	}
	if x.memory && !w.one(6) { // sometimes there is no room in memory
		return []core.Event{&core.StateHeld{Trial: p.trial, Attempt: p.attempt, ID: x.id, Iteration: x.iteration}}
	}
	return []core.Event{&core.CheckpointSaved{Trial: p.trial, Attempt: p.attempt, ID: x.id, Iteration: x.iteration,
		Bytes: w.r.Int64N(3)}}
}

// interrupted reports whether the host was told to end, so that it may give saves up.
func (w *World) interrupted() bool {
	as, _ := w.M.Ending()
	return as == core.InterruptedByUser
}

// leaves ends the attempt without an error, after the save that came with the stop.
func (w *World) leaves(p *proc) []core.Event {
	if p.saveID != 0 {
		p.saves, p.saveID, p.last = append(p.saves, save{p.saveID, p.iter, p.memory}), 0, true
		return w.saves(p)
	}
	if len(p.saves) > 0 && w.one(2) {
		return w.saves(p)
	}
	w.ends(p)
	e := &core.AttemptEnded{Trial: p.trial, Attempt: p.attempt}
	w.old = append(w.old, e)
	if w.interrupted() && w.one(4) {
		return []core.Event{&core.ModelExported{Trial: p.trial, Attempt: p.attempt, Format: "onnx", GivenUp: true}, e}
	}
	return []core.Event{e}
}

// ends lets the rest of an attempt answer its saves.
func (w *World) ends(p *proc) {
	if p.ended = true; len(p.saves) == 0 {
		w.gone(p)
	}
}

// never is the iteration of a checkpoint that will not be made.
const never = math.MaxUint64

func (w *World) crash(p *proc) []core.Event {
	if p.saveID != 0 {
		p.saves = append(p.saves, save{p.saveID, never, p.memory})
	}
	w.ends(p)
	e := &core.AttemptEnded{Trial: p.trial, Attempt: p.attempt, Cause: core.TrainableFailure("exit status 1")}
	if !p.started {
		e.NeverStarted, e.RestoreFailed, e.Damaged = w.one(4), w.one(3), w.one(3)
	}
	w.old = append(w.old, e)
	return []core.Event{e}
}

// reports sends the next result; metric 1 is "acc", metric 2 another.
func (w *World) reports(p *proc) []core.Event {
	p.iter++
	p.credits--
	e := &core.ResultReported{Trial: p.trial, Attempt: p.attempt}
	if w.one(2) {
		e.Iteration = p.iter
	}
	if !w.wrong() {
		e.Metrics = append(e.Metrics, core.Metric{ID: 1, Value: w.value()})
	}
	if w.one(2) {
		e.Metrics = append(e.Metrics, core.Metric{ID: 2, Value: w.value()})
	}
	if w.one(8) {
		e.Checkpoint = "made/by/itself"
	}
	if p.iter >= p.length && w.one(2) {
		e.Done, p.last = true, true
	}
	if !w.calm && w.one(60) {
		e.StopAll = &core.Cause{Kind: core.CauseBudgetExpression, Text: "good enough"}
	}
	w.old = append(w.old, e)
	return append(w.name(e.Metrics), e)
}

func (w *World) name(list []core.Metric) (events []core.Event) {
	for _, x := range list {
		for ; w.named < int(x.ID); w.named++ {
			events = append(events, &core.MetricNamed{ID: core.MetricID(w.named + 1),
				Name: []string{"acc", "loss"}[w.named]})
		}
	}
	return events
}

func (w *World) value() float64 {
	if w.one(10) {
		return pick(w, []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)})
	}
	return float64(w.r.IntN(100)) / 100
}
