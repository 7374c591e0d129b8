package sim

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// ledger has the results that processes have reported, and what the host did with them.
type ledger struct {
	// posted results were accepted by the running host, and are not in the record yet.
	posted   map[attempt][]sdk.Result
	produced map[resultKey]float64 // the objective's value
	counted  map[resultKey]bool
	results  []counted
	names    []named // of metrics, by their numbers from 1
}

type named struct {
	name  string
	event int
}

type resultKey struct {
	attempt
	iteration uint64
}

type counted struct {
	resultKey
	event int
}

func newLedger() ledger {
	return ledger{posted: map[attempt][]sdk.Result{}, produced: map[resultKey]float64{}, counted: map[resultKey]bool{}}
}

// cut removes the counts after a lost event.
func (l *ledger) cut(n int) {
	for i := len(l.results); i > 0 && l.results[i-1].event > n; i-- {
		delete(l.counted, l.results[i-1].resultKey)
		l.results = l.results[:i-1]
	}
	for i := len(l.names); i > 0 && l.names[i-1].event > n; i-- {
		l.names = l.names[:i-1]
	}
}

// named checks that each new metric gets the next number.
func (b *books) named(e *core.MetricNamed, event int) {
	again := slices.ContainsFunc(b.names, func(x named) bool { return x.name == e.Name })
	if again || int(e.ID) != len(b.names)+1 {
		b.fail("metric %q is given number %d, and these have theirs: %v", e.Name, e.ID, b.names)
	}
	b.names = append(b.names, named{e.Name, event})
}

func (l *ledger) name(id core.MetricID) string {
	if id < 1 || int(id) > len(l.names) {
		return ""
	}
	return l.names[id-1].name
}

// reported notes a result that a process sends and the host accepts.
func (l *ledger) reported(p *proc, x sdk.Result) {
	k := attempt{p.trial, p.attempt}
	x.Metrics = slices.Clone(x.Metrics)
	l.posted[k] = append(l.posted[k], x)
	l.produced[resultKey{k, x.Iteration}] = valueOf(x.Metrics, "score")
}

// valueOf returns a metric's value, or NaN.
func valueOf(list []sdk.Metric, name string) float64 {
	for _, m := range list {
		if m.Name == name {
			return m.Value
		}
	}
	return math.NaN()
}

// recorded compares a result in the record with the next one that was reported.
func (b *books) recorded(e *core.ResultReported) {
	if !b.lives {
		return // its host has died before it recorded the result
	}
	k := attempt{e.Trial, e.Attempt}
	if len(b.posted[k]) == 0 {
		b.fail("attempt %+v has a result in the record, %+v, and has reported none", k, e)
		return
	}
	x := b.posted[k][0]
	b.posted[k] = b.posted[k][1:]
	same := e.Iteration == x.Iteration && e.Done == x.Done && e.Checkpoint == x.Checkpoint &&
		len(e.Metrics) == len(x.Metrics)
	for i := range min(len(e.Metrics), len(x.Metrics)) {
		same = same && b.name(e.Metrics[i].ID) == x.Metrics[i].Name && sameValue(e.Metrics[i].Value, x.Metrics[i].Value)
	}
	if !same {
		b.fail("attempt %+v reported %+v, and the record has %+v", k, x, e)
	}
}

func sameValue(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// noneLost checks that all results of an attempt are recorded before its end.
func (b *books) noneLost(e *core.AttemptEnded) {
	if lost := b.posted[attempt{e.Trial, e.Attempt}]; b.lives && len(lost) > 0 {
		b.fail("attempt %d of trial %d has ended, and results that it reported are not in the record: %+v", e.Attempt,
			e.Trial, lost)
	}
}

// count checks that a result counts once, and as it was reported.
func (b *books) count(o core.Observation, event int) {
	k := resultKey{attempt{o.Trial, o.Attempt}, o.Iteration}
	_, ok := b.produced[k]
	switch {
	case !ok:
		b.fail("trial %d counts iteration %d of attempt %d, which nobody has reported", o.Trial, o.Iteration, o.Attempt)
	case b.counted[k]:
		b.fail("trial %d counts iteration %d of attempt %d twice", o.Trial, o.Iteration, o.Attempt)
	}
	if id, dead := b.leases.dead[k.attempt]; dead {
		b.fail("trial %d counts iteration %d of attempt %d, whose lease %d was lost", o.Trial, o.Iteration, o.Attempt,
			id)
	}
	b.counted[k] = true
	b.results = append(b.results, counted{k, event})
}
