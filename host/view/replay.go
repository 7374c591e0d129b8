package view

import (
	"errors"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/storage"
)

// replay is an experiment as far as its record was read, and the last result of each trial.
type replay struct {
	*history.History
	machine *core.Machine
	there   bool // there is a record
	last    []lastResult
}

// lastResult is the last of a trial's results that count.
type lastResult struct {
	iteration uint64
	metrics   []core.Metric
}

func unread() *replay { return reading(history.New(), false) }

func reading(h *history.History, there bool) *replay {
	return &replay{History: h, machine: h.Machine(), there: there}
}

// newReplay is at the journal's beginning; where there is none yet, it has
// nothing to read.
func newReplay(d storage.Dir) (*replay, error) {
	h, err := history.Open(d.Journal())
	if errors.Is(err, journal.ErrNoJournal) {
		return unread(), nil
	}
	if err != nil {
		return nil, err
	}
	return reading(h, true), nil
}

// read applies what is there, and returns how many records it was.
func (r *replay) read() (n int, err error) {
	err = r.Each(func(s *history.Step) error {
		n++
		r.keep(s)
		return nil
	})
	return n, err
}

// keep keeps each trial's last result.
func (r *replay) keep(s *history.Step) {
	for _, a := range s.Actions {
		switch a := a.(type) {
		case core.StartAttempt:
			r.rewind(a.Trial)
		case core.Tell:
			if o := &a.Observation; o.Kind == core.SawResult {
				r.result(o)
			}
		}
	}
}

// through goes through the record of an experiment from its beginning.
func (e *Experiment) through(f func(*history.History, *history.Step) error) error {
	r, err := newReplay(e.dir)
	if err != nil {
		return err
	}
	return errors.Join(r.Each(func(s *history.Step) error { return f(r.History, s) }), r.Close())
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

func (r *replay) result(o *core.Observation) {
	if missing := int(o.Trial) + 1 - len(r.last); missing > 0 {
		r.last = append(r.last, make([]lastResult, missing)...)
	}
	last := &r.last[o.Trial]
	last.iteration, last.metrics = o.Iteration, append(last.metrics[:0], o.Metrics...)
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
func wall(h *history.History, at int64) time.Time {
	ns, ok := h.Wall(at)
	if !ok {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
