package chronicle

import (
	"reflect"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/recorded"
	"github.com/tunehost/tunehost/host/storage"
)

// Reader reads a record from its beginning, also while a host writes it. It is
// for one goroutine.
type Reader struct {
	dir     storage.Dir
	record  *recorded.Reader
	machine *core.Machine
	open    map[uint64]place // results that are not decided yet, by observation
	hosted  bool
}

// Open begins to read the record of the experiment in a directory.
func Open(dir storage.Dir) (*Reader, error) {
	record, err := recorded.Open(dir.Journal())
	if err != nil {
		return nil, err
	}
	return &Reader{dir: dir, record: record, machine: core.New(), open: map[uint64]place{}}, nil
}

// Close lets go of the record.
func (r *Reader) Close() error { return r.record.Close() }

// Each tells f the records that are there and that it was not told before. Call it
// again for those that come later. Errors that are not f's name the place in the
// record: what was told before stands.
func (r *Reader) Each(f func(*Entry) error) error {
	return r.record.Each(func(x recorded.Entry) error { return f(r.entry(x)) })
}

func (r *Reader) entry(x recorded.Entry) *Entry {
	t := &teller{metric: r.metric, result: r.decided}
	v := reflect.ValueOf(x.Event).Elem()
	entry := &Entry{Number: x.Number, At: time.Duration(x.At), Event: snake(v.Type().Name()), Fields: t.fields(v)}
	entry.trials = t.trials
	r.apply(x, entry)
	if _, ok := x.Event.(*core.HostStarted); ok {
		r.hosted = true
	}
	if r.hosted {
		entry.Time = time.Unix(0, r.machine.Wall(x.At))
	}
	return entry
}

// apply goes on to the state after the event, and says which trials it made.
func (r *Reader) apply(x recorded.Entry, entry *Entry) {
	before := core.TrialNo(r.machine.Trials())
	for _, a := range r.machine.Apply(x.At, x.Event) {
		if t, ok := a.(core.Tell); ok && t.Observation.Due {
			r.open[t.Observation.Number] = place{t.Observation.Trial, t.Observation.Iteration}
		}
	}
	var made []any
	for no := before; no < core.TrialNo(r.machine.Trials()); no++ {
		made, entry.trials = append(made, no), append(entry.trials, no)
	}
	if made != nil {
		entry.Fields = append([]Field{{"trials", made}}, entry.Fields...)
	}
}

func (r *Reader) metric(id core.MetricID) string { return r.machine.MetricName(id) }

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
	found, err := recorded.Verify(r.dir.Journal(), journal.RunID{})
	return found.Cut, err
}
