// Package recovery replays the record of earlier hosts, and has what the new host must know of them
// beside the core's state.
package recovery

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/compose/setup"
	"github.com/tunehost/tunehost/host/compose/views"
	"github.com/tunehost/tunehost/host/config/stoprules"
	"github.com/tunehost/tunehost/host/consult"
	"github.com/tunehost/tunehost/host/consult/translation"
	"github.com/tunehost/tunehost/host/report/files"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Recovery has the data recorded by earlier hosts.
type Recovery struct {
	setup *setup.Setup
	views *views.Views
	// Rules hear every recorded event, as the machine does.
	Rules *stoprules.Rules
	// Last is the time of the last event.
	Last int64
	// Begun: there is an earlier host.
	Begun bool
	// PointsUsed is the number of points of the file that are trials already.
	PointsUsed int
	// Reported is the last event that is known to be in the result files, ToldBefore the last event
	// of earlier hosts.
	Reported, ToldBefore uint64

	// Known is what the scheduler knows; nil: nobody needs it.
	Known consult.Known

	undelivered []consult.ScheduleWork
	early       []view.Event // observations made before the drivers run
}

// New returns what is known before the record is replayed: only which events are in the result files.
func New(b *setup.Setup, s *views.Views) *Recovery {
	e := &Recovery{setup: b, views: s, Rules: stoprules.New(b.Plan.Experiment)}
	e.Rules.Warn = func(text string) { b.Log.Once(text, text) }
	if b.Plan.Experiment.KeepsDraws {
		e.Known = consult.Known{}
	}
	switch {
	case b.Stage != nil:
		e.Reported = b.Stage.Reported
	case b.Plan.File != nil:
		e.Reported = files.Reported(b.Dir.Path())
	}
	return e
}

// replay applies records of earlier hosts. It carries out no action: the machine repeats the unfinished
// ones when this host starts.
func (e *Recovery) replay(first uint64, records [][]byte) error {
	if err := e.setup.Starting.Err(); err != nil {
		return err
	}
	return e.setup.History.Replay(history.Visitor{Before: e.before, After: e.after})(first, records)
}

// before is called with an event before the machine applies it.
func (e *Recovery) before(x history.Entry) error {
	e.Last = max(e.Last, x.At)
	e.Rules.Recall(e.setup.Machine, x.Event)
	return nil
}

// after keeps what the drivers need of the past: results that the scheduler has not answered, and
// events that reporters have not received.
func (e *Recovery) after(x *history.Step) error {
	e.views.State.Noted(x.Actions)
	e.views.Events.Hear(x, e.Reported, func(v view.Event) { e.early = append(e.early, v) })
	if given, ok := x.Event.(*core.TrialGiven); ok && !given.Extra {
		e.PointsUsed++
	}
	if !e.setup.Machine.Spec().Quiet {
		e.keepUndelivered(x)
	}
	for len(e.undelivered) > 0 && e.undelivered[0].Event.Number <= e.setup.Machine.Decided() {
		e.Known.Hear(&e.undelivered[0])
		e.undelivered = e.undelivered[1:]
	}
	return nil
}

// keepUndelivered keeps what the scheduler has not heard.
func (e *Recovery) keepUndelivered(x *history.Step) {
	t := translation.Translator{Machine: e.setup.Machine, Encode: e.setup.PointOf}
	l := translation.Listener{To: core.ToScheduler, Traits: sdk.Traits{Metrics: true},
		Hear: func(v sdk.Event, due bool) {
			e.undelivered = append(e.undelivered, consult.Work(e.setup.Machine, v, due))
		}}
	for o := range x.Observations(core.ToScheduler) {
		if err := t.Tell(o, &l); err != nil {
			e.setup.Log.Error(err.Error())
		}
	}
}

// Unfinished returns the unfinished work of earlier hosts, for the scheduler and for the reporters.
func (e *Recovery) Unfinished() (untold []consult.ScheduleWork, early []view.Event) {
	untold, early, e.undelivered, e.early = e.undelivered, e.early, nil, nil
	return untold, early
}
