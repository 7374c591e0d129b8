package sim

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// loss: what a plugin hears of a result is what was reported.
func (b *books) loss(x *sdk.Event) {
	if x.Kind != sdk.ResultReported {
		return
	}
	value, ok := b.produced[resultKey{attempt{core.TrialNo(x.Trial), x.Attempt}, x.Iteration}]
	want := value
	if b.w.plan.maximum {
		want = -value
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		want = math.Inf(1)
	}
	if !ok || len(x.Losses) != 1 || x.Losses[0] != want {
		b.fail("a plugin hears of trial %d at iteration %d the losses %v; it reported %v", x.Trial, x.Iteration, x.Losses, value)
	}
}

// heard is what reporters are told: of what is safe, in order, and never anything
// else under the same number.
func (b *books) heard(events []report.Event) {
	for i := range events {
		e := &events[i]
		j, ok := slices.BinarySearchFunc(b.tells, e.Number, func(t told, n uint64) int { return cmpUint(t.number, n) })
		if !ok {
			b.fail("reporters are told event %d, which did not happen", e.Number)
			return
		}
		if t := b.tells[j]; t.event > b.safeTo {
			b.fail("reporters are told of event %d of the record, of which %d are safe", t.event, b.safeTo)
		}
		hash := reportHash(e)
		if was, again := b.reports[e.Number]; again && was != hash {
			b.fail("report %d was told once, and is another one now: %+v", e.Number, e)
		}
		b.reports[e.Number] = hash
		b.lastTold = max(b.lastTold, e.Number)
	}
}

func reportHash(e *report.Event) uint64 {
	h := mix(uint64(e.Kind), e.Iteration)
	if e.OfTrial() {
		h = mix(h, uint64(e.Trial.Number), uint64(e.Trial.Attempt))
	}
	if e.Result != nil {
		for _, m := range e.Result.Metrics {
			h = mix(h, math.Float64bits(m.Value))
		}
	}
	return h
}

// removed: a checkpoint is deleted once the record that drops it is safe.
func (b *books) removed(no core.TrialNo, id uint32) {
	event, ok := b.deletes[ckpt{no, id}]
	if !ok {
		b.fail("checkpoint %d of trial %d is removed, which nobody has ordered", id, no)
	} else if event > b.safeTo {
		b.fail("checkpoint %d of trial %d is removed by event %d, of which only %d are safe", id, no, event, b.safeTo)
	}
}

// suggested: a searcher that has heard the same answers the same.
func (b *books) suggested(hash uint64, requests []sdk.Request, answer sdk.Suggestions) {
	if len(requests) == 0 {
		return
	}
	key := mix(hash, uint64(requests[0].Trial), uint64(len(requests)), requests[0].Seed)
	said := mix(uint64(answer.Status), uint64(len(answer.Points)))
	for _, p := range answer.Points {
		for _, x := range p {
			said = mix(said, math.Float64bits(x))
		}
	}
	if was, again := b.answers[key]; again && was != said {
		b.fail("the searcher is asked for suggestion %d again after the same history, and answers otherwise: %v", requests[0].Trial, answer)
	}
	b.answers[key] = said
}

// decided: a scheduler that has heard the same decides the same; hash is of all that
// it had heard before these events.
func (b *books) decided(hash uint64, events []sdk.Event, answer sdk.Decisions) {
	verdict := map[uint64]sdk.Decision{}
	for _, d := range answer.Decisions {
		verdict[d.Event] = d
	}
	for i := range events {
		if hash = mix(hash, fullHash(&events[i])); events[i].Kind != sdk.ResultReported {
			continue
		}
		d := verdict[events[i].Number]
		said := mix(uint64(d.Verdict), d.Until)
		if was, again := b.verdicts[hash]; again && was != said {
			b.fail("the scheduler hears event %d again after the same history, and decides otherwise: %+v", events[i].Number, d)
		}
		b.verdicts[hash] = said
	}
}
