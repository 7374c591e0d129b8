package engine

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/config/stoprules"
	"github.com/tunehost/tunehost/host/inbox"
)

// A step ends with the event that reaches one of these limits. They are far below the journal's: a
// result can be many records, and a large one.
const (
	maxBatchRecords = 16384
	maxBatchBytes   = 4 << 20
)

// usualRecord is the usual length of records of results and decisions.
const usualRecord = 48

// encoder turns events into records.
type encoder struct {
	machine *core.Machine
	rules   *stoprules.Rules
	names   names
	records [][]byte
	bytes   int // of records
	at      int64
}

func newEncoder(m *core.Machine, r *stoprules.Rules) encoder {
	x := encoder{machine: m, rules: r, names: names{}}
	for id := 1; id <= m.Metrics(); id++ {
		x.names.id(m.MetricName(core.MetricID(id)))
	}
	return x
}

// encode makes records of the batch, or of its first part if the batch is large. It returns the length
// of that part, at least one.
func (x *encoder) encode(at int64, batch []inbox.Item) (records [][]byte, n int, err error) {
	x.records, x.bytes, x.at = x.records[:0], 0, at
	for i := range batch {
		last, err := x.one(&batch[i])
		if err != nil {
			return nil, 0, err
		}
		if last || len(x.records) >= maxBatchRecords || x.bytes >= maxBatchBytes {
			return x.records, i + 1, nil
		}
	}
	return x.records, len(batch), nil
}

// one makes records of one item. An item that may stop all trials is the last of its batch: later items
// are judged when all trials are stopped.
func (x *encoder) one(n *inbox.Item) (last bool, err error) {
	if n.Result == nil {
		if m, ok := n.Event.(*core.MetricNamed); ok {
			x.names[m.Name] = m.ID
		}
		if _, ok := n.Event.(*core.BudgetJudged); ok {
			return true, x.add(x.rules.Judge(x.machine))
		}
		return false, x.add(n.Event)
	}
	if err := x.nameMetrics(n.Result); err != nil {
		return false, err
	}
	r := x.rules.Result(x.machine, x.at, x.names.number, n.Result)
	return r.StopAll != nil, x.add(r)
}

func (x *encoder) add(e core.Event) error {
	b, err := record.Append(make([]byte, 0, usualRecord), x.at, e)
	x.records = append(x.records, b)
	x.bytes += len(b)
	return err
}

// nameMetrics gives each new metric its number.
func (x *encoder) nameMetrics(r *inbox.Result) error {
	for _, m := range r.Metrics {
		if id, isNew := x.names.id(m.Name); isNew {
			if err := x.add(&core.MetricNamed{ID: id, Name: m.Name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// names numbers metrics in the order of their first use.
type names map[string]core.MetricID

// number returns the number of a known metric.
func (n names) number(name string) core.MetricID { return n[name] }

func (n names) id(name string) (id core.MetricID, isNew bool) {
	if id, ok := n[name]; ok {
		return id, false
	}
	id = core.MetricID(len(n) + 1)
	n[name] = id
	return id, true
}
