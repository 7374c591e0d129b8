package journalview

import (
	"reflect"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage"
)

// Reader reads a record from its beginning, also while a host writes it. It is for one goroutine.
type Reader struct {
	dir    storage.Dir
	record *history.History
	open   map[uint64]place // undecided results, by observation
	from   uint64
}

// Open begins to read the record of the experiment in a directory.
func Open(dir storage.Dir) (*Reader, error) {
	record, err := history.Open(dir.Journal())
	if err != nil {
		return nil, err
	}
	return &Reader{dir: dir, record: record, open: map[uint64]place{}}, nil
}

// Close closes the record.
func (r *Reader) Close() error { return r.record.Close() }

// Skip says that entries before a number are not wanted: they are read, but not described.
func (r *Reader) Skip(before uint64) { r.from = before }

// Each calls f with the records that are there and that were not passed to it before. Call it again
// for later ones. An error that is not f's names the place in the record; entries before it are valid.
func (r *Reader) Each(f func(*Entry) error) error {
	var entry *Entry
	return r.record.Visit(history.Visitor{
		Before: func(x history.Entry) error {
			if entry = nil; x.Number >= r.from {
				entry = r.entry(x)
			}
			return nil
		},
		After: func(s *history.Step) error {
			if entry == nil {
				r.pass(s)
				return nil
			}
			r.complete(entry, s)
			return f(entry)
		},
	})
}

// pass keeps the open results of an entry that is not wanted.
func (r *Reader) pass(s *history.Step) {
	if e, ok := s.Event.(*core.SchedulerDecided); ok {
		for _, d := range e.Decisions {
			delete(r.open, d.Number)
		}
	}
	r.note(s)
}

// note keeps the results that the scheduler owes a decision on.
func (r *Reader) note(s *history.Step) {
	for o := range s.Observations(core.ToAll) {
		if o.Due {
			r.open[o.Number] = place{o.Trial, o.Iteration}
		}
	}
}

// entry describes the event itself, with the names and the open results before it.
func (r *Reader) entry(x history.Entry) *Entry {
	m := r.record.Machine()
	t := &describer{metric: m.MetricName, result: r.decided}
	v := reflect.ValueOf(x.Event).Elem()
	entry := &Entry{Number: x.Number, At: time.Duration(x.At), Event: snake(v.Type().Name()), Fields: t.fields(v)}
	entry.trials, entry.first = t.trials, core.TrialNo(m.Trials())
	return entry
}

// complete adds the time of day and the trials that the event made.
func (r *Reader) complete(entry *Entry, s *history.Step) {
	r.note(s)
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

// Cut returns the torn end that a crash has left, which the next host removes; nil if there is none.
// Call it when no host runs. The error says where the record is damaged.
func (r *Reader) Cut() (*journal.Cut, error) {
	found, err := history.Verify(r.dir.Journal(), journal.RunID{})
	return found.Cut, err
}
