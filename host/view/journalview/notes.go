package journalview

import (
	"reflect"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/view/course"
)

// noted is an entry with what is needed to describe it later, when the state of the experiment is another one.
type noted struct {
	number uint64
	at     int64
	event  core.Event
	// first is the first of the trials that the event made, made their number.
	first core.TrialNo
	made  int
	// wall is the time of day; hosted says that it is known.
	wall   int64
	hosted bool
	// decided are the results that were decided on.
	decided []decided
	// extension is the extension that the settings are the first to have, from 1; 0: none.
	extension uint32
}

// decided is a result that the scheduler has decided on.
type decided struct {
	observation uint64
	place
}

// result finds a result by its observation.
func (n *noted) result(observation uint64) (place, bool) {
	for _, d := range n.decided {
		if d.observation == observation {
			return d.place, true
		}
	}
	return place{}, false
}

// notes takes the entries of a record one after the other.
type notes struct {
	open   course.Open
	trials int
	hosted bool
	// extended is how often the experiment was extended so far.
	extended uint32
}

// take takes the next entry. It may use the memory of a noted one that is not needed any more.
func (k *notes) take(s *history.Step, old noted) noted {
	if _, ok := s.Event.(*core.HostStarted); ok {
		k.hosted = true
	}
	n := noted{number: s.Number, at: s.At, event: s.Event, first: core.TrialNo(k.trials), hosted: k.hosted,
		decided: old.decided[:0]}
	if n.hosted {
		n.wall = s.Machine.Wall(s.At)
	}
	n.made, k.trials = s.Machine.Trials()-k.trials, s.Machine.Trials()
	if e, ok := s.Event.(*core.SchedulerDecided); ok {
		n.decided = k.decide(e, n.decided)
	}
	if e, ok := s.Event.(*core.SettingsChanged); ok && e.Spec.Extended > k.extended {
		n.extension, k.extended = e.Spec.Extended, e.Spec.Extended
	}
	for _, a := range s.Actions {
		if t, ok := a.(*core.Tell); ok && t.Observation.Due {
			k.open.Put(t.Observation.Number, t.Observation.Trial, t.Observation.Iteration)
		}
	}
	return n
}

// decide removes the open results that an event decides on, and appends them to a list: each is decided once.
func (k *notes) decide(e *core.SchedulerDecided, list []decided) []decided {
	for _, d := range e.Decisions {
		if trial, iteration, ok := k.open.Take(d.Number); ok {
			list = append(list, decided{d.Number, place{trial, iteration}})
		}
	}
	return list
}

// describe returns the entry in words. The names of metrics are those of a machine at or after the entry.
func (n *noted) describe(m *core.Machine) *Entry {
	t := &describer{metric: m.MetricName, result: n.result}
	v := reflect.ValueOf(n.event).Elem()
	e := &Entry{Number: n.number, At: time.Duration(n.at), Event: snake(v.Type().Name()), Fields: t.fields(v)}
	e.trials, e.extension = t.trials, n.extension
	var made []any
	for no := n.first; no < n.first+core.TrialNo(n.made); no++ {
		made, e.trials = append(made, no), append(e.trials, no)
	}
	if made != nil {
		e.Fields = append([]Field{{"trials", made}}, e.Fields...)
	}
	if n.hosted {
		e.Time = time.Unix(0, n.wall)
	}
	return e
}
