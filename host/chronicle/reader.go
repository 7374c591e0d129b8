package chronicle

import (
	"reflect"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage"
)

// Reader reads a record from its beginning, also while a host writes it. It is
// for one goroutine.
type Reader struct {
	dir    storage.Dir
	record *history.History
	open   map[uint64]place // results that are not decided yet, by observation
}

// Open begins to read the record of the experiment in a directory.
func Open(dir storage.Dir) (*Reader, error) {
	record, err := history.Open(dir.Journal())
	if err != nil {
		return nil, err
	}
	return &Reader{dir: dir, record: record, open: map[uint64]place{}}, nil
}

// Close lets go of the record.
func (r *Reader) Close() error { return r.record.Close() }

// Each tells f the records that are there and that it was not told before. Call it
// again for those that come later. Errors that are not f's name the place in the
// record: what was told before stands.
func (r *Reader) Each(f func(*Entry) error) error {
	var entry *Entry
	return r.record.Visit(history.Visitor{
		Before: func(x history.Entry) error { entry = r.entry(x); return nil },
		After:  func(s *history.Step) error { r.complete(entry, s); return f(entry) },
	})
}

// entry is what the event itself says, by the names and the open results of the time before it.
func (r *Reader) entry(x history.Entry) *Entry {
	m := r.record.Machine()
	t := &teller{metric: m.MetricName, result: r.decided}
	v := reflect.ValueOf(x.Event).Elem()
	entry := &Entry{Number: x.Number, At: time.Duration(x.At), Event: snake(v.Type().Name()), Fields: t.fields(v)}
	entry.trials, entry.first = t.trials, core.TrialNo(m.Trials())
	return entry
}

// complete adds the time of day and which trials the event made.
func (r *Reader) complete(entry *Entry, s *history.Step) {
	for o := range s.Observations(core.ToAll) {
		if o.Due {
			r.open[o.Number] = place{o.Trial, o.Iteration}
		}
	}
	var made []any
	for no := entry.first; no < core.TrialNo(s.Machine.Trials()); no++ {
		made, entry.trials = append(made, no), append(entry.trials, no)
	}
	if made != nil {
		entry.Fields = append([]Field{{"trials", made}}, entry.Fields...)
	}
	if r.record.Hosts() > 0 {
		entry.Time = time.Unix(0, s.Machine.Wall(s.At))
	}
}

// decided forgets a result, which is decided once.
func (r *Reader) decided(number uint64) (place, bool) {
	p, ok := r.open[number]
	delete(r.open, number)
	return p, ok
}

// Cut is the torn end that a crash has left, which the next host cuts off; nil
// where there is none. Call it when no host runs. The error says where the record
// is damaged.
func (r *Reader) Cut() (*journal.Cut, error) {
	found, err := history.Verify(r.dir.Journal(), journal.RunID{})
	return found.Cut, err
}
