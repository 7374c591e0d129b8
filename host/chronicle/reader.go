package chronicle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/analysis"
	"github.com/tunehost/tunehost/host/storage"
)

// Reader reads a record from its beginning, also while a host writes it. It is
// for one goroutine.
type Reader struct {
	dir     storage.Dir
	files   *journal.Dir
	reader  *journal.Reader
	machine *core.Machine
	open    map[uint64]place // results that are not decided yet, by observation
	hosted  bool

	batch [][]byte // not handed out
	next  uint64   // number of its first
}

// Open begins to read the record of the experiment in a directory.
func Open(dir storage.Dir) (*Reader, error) {
	r := &Reader{dir: dir, machine: core.New(), open: map[uint64]place{}}
	files, err := journal.OpenDir(dir.Journal())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir.Journal(), journal.ErrNoJournal)
	}
	if err != nil {
		return nil, err
	}
	r.files, r.reader = files, journal.NewReader(files)
	return r, nil
}

// Close lets go of the record.
func (r *Reader) Close() error { return errors.Join(r.reader.Close(), r.files.Close()) }

// Next returns the next record; io.EOF when there is none now. Call again later.
// Other errors name the file and the place: what was returned before stands.
func (r *Reader) Next() (*Entry, error) {
	for len(r.batch) == 0 {
		first, records, err := r.reader.Next()
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.dir.Journal(), err)
		}
		r.batch, r.next = records, first
	}
	b := r.batch[0]
	r.batch = r.batch[1:]
	return r.entry(b)
}

func (r *Reader) entry(b []byte) (*Entry, error) {
	number := r.next
	r.next++
	at, e, err := record.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: record %d: %w", r.dir.Journal(), number, err)
	}
	t := &teller{metric: r.metric, result: r.decided}
	v := reflect.ValueOf(e).Elem()
	entry := &Entry{Number: number, At: time.Duration(at), Event: snake(v.Type().Name()), Fields: t.fields(v)}
	entry.trials = t.trials
	if err := r.apply(at, e, entry); err != nil {
		return nil, fmt.Errorf("%s: record %d: %w", r.dir.Journal(), number, err)
	}
	if _, ok := e.(*core.HostStarted); ok {
		r.hosted = true
	}
	if r.hosted {
		entry.Time = time.Unix(0, r.machine.Wall(at))
	}
	return entry, nil
}

// apply goes on to the state after the event, and says which trials it made.
func (r *Reader) apply(at int64, e core.Event, entry *Entry) (err error) {
	defer analysis.Sensible(&err)
	before := core.TrialNo(r.machine.Trials())
	for _, a := range r.machine.Apply(at, e) {
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
	return nil
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
	found, err := journal.Verify(r.files, journal.Options{}, func(uint64, [][]byte) error { return nil })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.dir.Journal(), err)
	}
	return found.Cut, nil
}
