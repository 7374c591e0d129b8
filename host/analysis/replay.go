package analysis

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/storage"
)

// replay is a run through the record.
type replay struct {
	machine *core.Machine
	dir     *journal.Dir
	reader  *journal.Reader // nil while there is no journal
	hosts   []host
	last    [][]core.Metric // of each trial's last result
	// hear is told what the machine saw, right after each event; before it, after is
	// told the event and all that it led to. Either may be nil.
	hear  func(core.Observation) error
	after func(core.Event, []core.Action)
}

// host is one host process: from is the running time at which it began, wall
// the time of day at running time 0 as it counted.
type host struct{ from, wall int64 }

func unread() *replay { return &replay{machine: core.New()} }

// newReplay is at the journal's beginning; where there is none yet, it has
// nothing to read.
func newReplay(d storage.Dir) (*replay, error) {
	r := unread()
	dir, err := journal.OpenDir(d.Journal())
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.dir, r.reader = dir, journal.NewReader(dir)
	return r, nil
}

func (r *replay) close() error {
	if r.reader == nil {
		return nil
	}
	return errors.Join(r.reader.Close(), r.dir.Close())
}

// read applies what is there, and returns how many records it was.
func (r *replay) read() (n int, err error) {
	if r.reader == nil {
		return 0, nil
	}
	for {
		_, records, err := r.reader.Next()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		for _, b := range records {
			if err := r.apply(b); err != nil {
				return n, err
			}
		}
		n += len(records)
	}
}

// all reads what is there, and closes.
func (r *replay) all() error {
	_, err := r.read()
	return errors.Join(err, r.close())
}

// Sensible is to be deferred by whoever applies recorded events: what the core refuses
// with a panic, since no host records it, becomes an error. Such a record has right
// checksums; somebody has made it so.
func Sensible(err *error) {
	if v := recover(); v != nil {
		line, _, _ := strings.Cut(fmt.Sprint(v), "\n")
		*err = fmt.Errorf("the record is of no experiment, though its checksums are right: %s; restore it from a copy", line)
	}
}

func (r *replay) apply(b []byte) (err error) {
	defer Sensible(&err)
	at, e, err := record.Parse(b)
	if err != nil {
		return err
	}
	actions := r.machine.Apply(at, e)
	if _, ok := e.(*core.HostStarted); ok {
		r.hosts = append(r.hosts, host{r.machine.Now(), r.machine.Wall(0)})
	}
	if r.after != nil {
		r.after(e, actions)
	}
	for _, a := range actions {
		if t, ok := a.(core.Tell); ok {
			if err := r.saw(t.Observation); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *replay) saw(o core.Observation) error {
	if o.Kind == core.SawResult {
		if missing := int(o.Trial) + 1 - len(r.last); missing > 0 {
			r.last = append(r.last, make([][]core.Metric, missing)...)
		}
		r.last[o.Trial] = append(r.last[o.Trial][:0], o.Metrics...)
	}
	if r.hear == nil {
		return nil
	}
	return r.hear(o)
}

// metrics are those of a trial's last result.
func (r *replay) metrics(no core.TrialNo) []Metric {
	if int(no) >= len(r.last) {
		return nil
	}
	return named(r.machine, r.last[no])
}

func named(m *core.Machine, list []core.Metric) []Metric {
	out := make([]Metric, 0, len(list))
	for _, x := range list {
		out = append(out, Metric{m.MetricName(x.ID), x.Value})
	}
	slices.SortStableFunc(out, byName)
	return out
}

// wall is the time of day at a running time; the zero time before any host.
func (r *replay) wall(at int64) time.Time {
	i := sort.Search(len(r.hosts), func(i int) bool { return r.hosts[i].from > at })
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(0, r.hosts[i-1].wall+at)
}
