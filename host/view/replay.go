package view

import (
	"errors"
	"slices"
	"sort"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/recorded"
	"github.com/tunehost/tunehost/host/storage"
)

// replay is a run through the record.
type replay struct {
	machine *core.Machine
	reader  *recorded.Reader // nil while there is no journal
	hosts   []host
	last    []lastResult // of each trial
	// hear is told what the machine saw, right after each event; before it, after is
	// told the event and all that it led to. Either may be nil.
	hear  func(core.Observation) error
	after func(core.Event, []core.Action)
}

// lastResult is the last of a trial's results that count.
type lastResult struct {
	iteration uint64
	metrics   []core.Metric
}

// host is one host process: from is the running time at which it began, wall
// the time of day at running time 0 as it counted.
type host struct{ from, wall int64 }

func unread() *replay { return &replay{machine: core.New()} }

// newReplay is at the journal's beginning; where there is none yet, it has
// nothing to read.
func newReplay(d storage.Dir) (*replay, error) {
	r := unread()
	reader, err := recorded.Open(d.Journal())
	if errors.Is(err, journal.ErrNoJournal) {
		return r, nil
	}
	r.reader = reader
	return r, err
}

func (r *replay) close() error {
	if r.reader == nil {
		return nil
	}
	return r.reader.Close()
}

// read applies what is there, and returns how many records it was.
func (r *replay) read() (n int, err error) {
	if r.reader == nil {
		return 0, nil
	}
	err = r.reader.Each(func(x recorded.Entry) error {
		n++
		return r.apply(x)
	})
	return n, err
}

// all reads what is there, and closes.
func (r *replay) all() error {
	_, err := r.read()
	return errors.Join(err, r.close())
}

func (r *replay) apply(x recorded.Entry) error {
	actions := r.machine.Apply(x.At, x.Event)
	if _, ok := x.Event.(*core.HostStarted); ok {
		r.hosts = append(r.hosts, host{r.machine.Now(), r.machine.Wall(0)})
	}
	if r.after != nil {
		r.after(x.Event, actions)
	}
	for _, a := range actions {
		switch a := a.(type) {
		case core.StartAttempt:
			r.rewind(a.Trial)
		case core.Tell:
			if err := r.saw(a.Observation); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewind forgets a last result that a restarted trial will report again: its values are those
// that the machine has kept with the checkpoint (B-061). Before RulesV2 it was shown on.
func (r *replay) rewind(no core.TrialNo) {
	if int(no) >= len(r.last) || r.machine.Spec().Rules < core.RulesV2 {
		return
	}
	v, last := r.machine.View(no), &r.last[no]
	if v.Iteration == last.iteration {
		return
	}
	last.iteration, last.metrics = v.Iteration, last.metrics[:0]
	r.machine.EachSummary(no, func(id core.MetricID, s stat.Summary) {
		last.metrics = append(last.metrics, core.Metric{ID: id, Value: s.Last})
	})
}

func (r *replay) saw(o core.Observation) error {
	if o.Kind == core.SawResult {
		if missing := int(o.Trial) + 1 - len(r.last); missing > 0 {
			r.last = append(r.last, make([]lastResult, missing)...)
		}
		last := &r.last[o.Trial]
		last.iteration, last.metrics = o.Iteration, append(last.metrics[:0], o.Metrics...)
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
	return named(r.machine, r.last[no].metrics)
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
