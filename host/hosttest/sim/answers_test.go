package sim

import (
	"bytes"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// answers are what plugins have answered; the record must have them unchanged.
type answers struct {
	asked   core.AskSearcher // the last question
	said    suggestionsSaid
	draws   map[uint64]uint32 // the suggestion of each seed
	replies map[uint64]uint64 // suggestions, by what the searcher was told and asked

	verdicts  map[uint64]sdk.Decision // by event
	due       map[uint64]bool         // results that wait for a decision
	orders    []order                 // not in the record yet
	orderedTo uint64                  // the last event that this host's scheduler has answered
	heardTo   uint64                  // the last event that the scheduler was told
	decided   map[uint64]uint64       // verdicts, by what the scheduler was told
}

type suggestionsSaid struct {
	first  uint32
	status sdk.Status
	points []space.Point
}

// order is what the scheduler answered to events through one: it must be recorded.
type order struct {
	through  uint64
	commands []sdk.Command
	ended    []uint64 // due results that must stop or pause their trials
}

func newAnswers() answers {
	return answers{draws: map[uint64]uint32{}, replies: map[uint64]uint64{}, verdicts: map[uint64]sdk.Decision{},
		due: map[uint64]bool{}, decided: map[uint64]uint64{}}
}

// suggested checks that the searcher is asked what the core asks for, each with a seed of its own, and
// that the same history gives the same answers. who is the searcher and its problem, hash that of what
// it was told.
func (b *books) suggested(who, hash uint64, requests []sdk.Request, answer sdk.Suggestions) {
	if len(requests) == 0 {
		return
	}
	if uint64(requests[0].Trial) != b.asked.First || len(requests) != b.asked.Count {
		b.fail("the searcher is asked for %d suggestions from %d on; the core wants %+v", len(requests),
			requests[0].Trial, b.asked)
	}
	for i, q := range requests {
		if of, used := b.draws[q.Seed]; q.Trial != requests[0].Trial+uint32(i) || used && of != q.Trial {
			b.fail("request %d is %+v; the seed is that of suggestion %d", i, q, of)
		}
		b.draws[q.Seed] = q.Trial
	}
	b.said = suggestionsSaid{requests[0].Trial, answer.Status, clonePoints(answer.Points)}
	key := mix(who, hash, uint64(requests[0].Trial), uint64(len(requests)), requests[0].Seed)
	hash = mix(uint64(answer.Status), uint64(len(answer.Points)))
	for _, p := range answer.Points {
		hash = mix(hash, pointHash(p))
	}
	if was, again := b.replies[key]; again && was != hash {
		b.fail("the searcher is asked for suggestion %d again after the same history, and answers otherwise: %v",
			requests[0].Trial, answer)
	}
	b.replies[key] = hash
}

func clonePoints(list []space.Point) []space.Point {
	list = slices.Clone(list)
	for i := range list {
		list[i] = slices.Clone(list[i])
	}
	return list
}

func pointHash(p space.Point) (h uint64) {
	for _, x := range p {
		h = mix(h, math.Float64bits(x))
	}
	return h
}

// suggestions checks that the record has the searcher's answer, and that the trials follow it.
func (b *books) suggestions(e *core.SuggestionsReceived) {
	b.made(e.Suggestions)
	if !b.lives {
		return
	}
	said := b.said
	if e.Ask != b.asked.Ask || core.SearcherStatus(said.status) != e.Status ||
		len(e.Suggestions) != min(len(said.points), b.asked.Count) {
		b.fail("the searcher answered question %+v with %+v, and the record has %+v", b.asked, said, e)
		return
	}
	for i, s := range e.Suggestions {
		b.same(s.Params, said.points[i])
	}
}

// same checks that parameters are those of a point.
func (b *books) same(params []byte, p space.Point) {
	got, err := config.PointOf(b.w.plan.experiment.Space, params)
	if err != nil || !slices.EqualFunc(got, p, sameValue) {
		b.fail("a plugin said %v, and in the record it is %s: %v", p, params, err)
	}
}

// made checks that new trials have the parameters that were suggested or given.
func (b *books) made(list []core.Suggestion) {
	runs := max(int(b.machine.Spec().Repeat), 1)
	for i, no := 0, len(b.states); no < b.machine.Trials(); i, no = i+1, no+1 {
		if i/runs >= len(list) || !bytes.Equal(b.machine.Params(core.TrialNo(no)), list[i/runs].Params) {
			b.fail("trial %d is made of %s, the %dth of %d suggestions", no, b.machine.Params(core.TrialNo(no)), i/runs,
				len(list))
			return
		}
	}
}

// decides checks that a scheduler decides the same after the same history; hash is that of everything
// before these events.
func (b *books) decides(who, hash uint64, events []sdk.Event, answer sdk.Decisions) {
	said := map[uint64]sdk.Decision{}
	for _, d := range answer.Decisions {
		said[d.Event] = d
	}
	for i := range events {
		if hash = mix(hash, eventHash(&events[i])); events[i].Kind != sdk.ResultReported {
			continue
		}
		d := said[events[i].Number]
		key, verdict := mix(who, hash), mix(uint64(d.Verdict), d.Until)
		if was, again := b.decided[key]; again && was != verdict {
			b.fail("the scheduler hears event %d again after the same history, and decides otherwise: %+v",
				events[i].Number, d)
		}
		b.decided[key] = verdict
		b.verdicts[events[i].Number] = d
	}
	b.ordered(events, answer)
}

// ordered notes the orders of an answer, unless it repeats an earlier one.
func (b *books) ordered(events []sdk.Event, answer sdk.Decisions) {
	if !b.lives || len(events) == 0 || events[len(events)-1].Number <= b.orderedTo {
		return
	}
	b.orderedTo = events[len(events)-1].Number
	o := order{through: b.orderedTo, commands: slices.Clone(answer.Commands)}
	for _, d := range answer.Decisions {
		if d.Verdict != sdk.Continue && b.due[d.Event] {
			o.ended = append(o.ended, d.Event)
		}
	}
	if len(o.commands)+len(o.ended) > 0 {
		b.orders = append(b.orders, o)
	}
}

// decisions checks that the record has the scheduler's decisions and commands, in order.
func (b *books) decisions(e *core.SchedulerDecided) {
	if !b.lives {
		return
	}
	for _, d := range e.Decisions {
		if said := b.verdicts[d.Number]; d.Verdict != core.Verdict(said.Verdict) || d.Until != said.Until {
			b.fail("the scheduler decided %+v, and the record has %+v", said, d)
		}
	}
	var must order
	if len(b.orders) > 0 && b.orders[0].through <= e.Through {
		must, b.orders = b.orders[0], b.orders[1:]
	}
	for _, number := range must.ended {
		if !slices.ContainsFunc(e.Decisions, func(d core.Decision) bool { return d.Number == number }) {
			b.fail("the scheduler decided %+v, and the record has only %+v", b.verdicts[number], e)
		}
	}
	want := must.commands
	if len(want) != len(e.Commands) {
		b.fail("the scheduler commanded %+v, and the record has %+v", want, e.Commands)
		return
	}
	for i, c := range e.Commands {
		said := want[i]
		if c.Kind != core.CommandKind(said.Kind) || c.Trial != core.TrialNo(said.Trial) ||
			c.Donor != core.TrialNo(said.Donor) || c.Iteration != said.Iteration {
			b.fail("the scheduler commanded %+v, and the record has %+v", said, c)
		}
		if said.Point != nil {
			b.same(c.Params, said.Point)
		}
	}
}

// givenUp checks that a scheduler is not given up for paused trials before it was told everything.
func (b *books) givenUp(e *core.PluginFailed) {
	n := len(b.scheduler.links)
	if b.lives && n > 0 && e.Cause.Is(core.CauseSchedulerStuck) && b.scheduler.links[n-1].want.Number > b.heardTo {
		b.fail("the scheduler is given up, which has heard %d of %d events: %s", b.heardTo,
			b.scheduler.links[n-1].want.Number, e.Cause)
	}
}
