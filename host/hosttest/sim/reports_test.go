package sim

import (
	"fmt"
	"hash/fnv"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// heard checks that reporters receive events that are safe, in order, without gaps,
// and never two different events with the same number.
func (b *books) heard(events []view.Event) {
	for i := range events {
		e := &events[i]
		if b.cursor >= len(b.tells) || b.tells[b.cursor].number != e.Number {
			b.fail("reporters are told event %d, and it is not its turn: %d of %+v", e.Number, b.cursor,
				b.tells[max(b.cursor-1, 0):min(b.cursor+1, len(b.tells))])
			return
		}
		t := b.tells[b.cursor]
		b.cursor++
		if t.event > b.safeTo {
			b.fail("reporters are told of event %d of the record, but only the first %d are safe", t.event, b.safeTo)
		}
		b.tellsOf(e, t)
		hash := reportHash(e)
		if was, again := b.reports[e.Number]; again && was != hash {
			b.fail("report %d was told once, and is another one now: %+v %+v", e.Number, e, e.Result)
		}
		b.reports[e.Number] = hash
		b.lastTold = max(b.lastTold, e.Number)
	}
}

// tellsOf compares a report with the recorded event.
func (b *books) tellsOf(e *view.Event, t told) {
	if t.seen == 0 {
		if e.Kind != view.Began || e.Resumed != (t.number > 1) {
			b.fail("reporters are told %+v of a host's start", e)
		}
		return
	}
	o := t.o
	same := e.Kind == o.Kind && e.Reason == o.Reason() && e.Iteration == o.Iteration &&
		(e.Result != nil) == (o.Kind == core.SawResult)
	if e.OfTrial() {
		same = same && e.Trial.Number == o.Trial && (o.Attempt == 0 || e.Trial.Attempt == o.Attempt)
	}
	if r := e.Result; r != nil {
		same = same && r.Iteration == o.Iteration && r.Again == o.Again && r.Done == o.Last &&
			len(r.Metrics) == len(o.Metrics)
		for i := range min(len(r.Metrics), len(o.Metrics)) {
			same = same && r.Metrics[i].Name == b.name(o.Metrics[i].ID) &&
				sameValue(r.Metrics[i].Value, o.Metrics[i].Value)
		}
	}
	if !same {
		b.fail("reporters are told %+v %+v of %+v", e, e.Result, o)
	}
}

// reportHash returns a digest of all fields of a report.
func reportHash(e *view.Event) uint64 {
	x := *e
	x.Result = nil
	h := fnv.New64a()
	fmt.Fprintf(h, "%+v %+v", x, e.Result)
	return h.Sum64()
}

// removed checks that a checkpoint is deleted only when the record of its deletion is safe.
func (b *books) removed(no core.TrialNo, id uint32) {
	event, ok := b.deletes[ckpt{no, id}]
	if !ok {
		b.fail("checkpoint %d of trial %d is removed, which nobody has ordered", id, no)
	} else if event > b.safeTo {
		b.fail("checkpoint %d of trial %d is removed by event %d, but only the first %d are safe", id, no, event,
			b.safeTo)
	}
}
