// Package startup makes the first events of a host that starts or resumes an experiment.
package startup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/compose/recovery"
	"github.com/tunehost/tunehost/host/compose/setup"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/points"
	"github.com/tunehost/tunehost/host/config/spec"
	"github.com/tunehost/tunehost/host/machine"
	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/usererror"
)

// Host is a host that is about to run.
type Host struct {
	Setup    *setup.Setup
	Recovery *recovery.Recovery
	Offered  *Offered
	// Inherited is what the experiment has taken over from others.
	Inherited *Inherited
	Traits    spec.Traits // of the plugins
	Name      func(core.TrialNo) string
	// Request fills in what a trial needs if that depends on its parameters. Requests: it asks the
	// trainable.
	Request  func(*core.Suggestion) error
	Requests bool
}

// Events returns the start of the host, settings that are not recorded yet, trials that run again,
// copies of others, the points of the file, and the nodes.
func (h *Host) Events() ([]core.Event, error) {
	nodes, err := h.nodes()
	if err != nil {
		return nil, err
	}
	e := h.Setup.Plan.Experiment
	spec, err := h.Spec(e, h.Rules())
	if err != nil {
		return nil, err
	}
	points, err := h.points()
	if err != nil {
		return nil, err
	}
	m := h.Setup.Machine
	again, err := prepare.Resets(&h.Setup.Options, m, h.Setup.File.Seed, h.Name)
	if err == nil {
		err = h.runnable(again, spec)
	}
	if err == nil {
		err = h.affordable(&spec, len(again))
	}
	if h.Setup.Options.Again.Paused && m.Count(core.Paused) == 0 {
		h.Setup.Log.Warn("--unpause: no trial is paused")
	}
	if err != nil {
		return nil, err
	}
	copies, err := prepare.Copies(&h.Setup.Options, e, m, h.Setup.File.Seed, h.Name, h.Request)
	if err != nil {
		return nil, err
	}
	var events []core.Event
	if !h.Recovery.Begun {
		events = append(events, &core.ExperimentStarted{Spec: spec})
	}
	events = append(events, h.Inherited.lessons.Events(m, e.Objectives)...)
	events = append(events, h.started())
	if h.Recovery.Begun && (!sameSpec(spec, *m.Spec()) || len(copies) > 0 && over(m)) {
		// The record decides: a host may have died between accepting a change and
		// recording it. An experiment that is over begins again with its settings.
		events = append(events, &core.SettingsChanged{Spec: spec})
		h.sayFewer(spec.Trials)
	}
	return slices.Concat(events, again, points, copies, nodes), nil
}

// over reports that no new trial would be made: the experiment was ended before its time, and has nothing left.
func over(m *core.Machine) bool { return m.EndsForGood() && !m.GoesOn() }

// Rules returns the version of the core's rules for the experiment. The loop must not run yet.
func (h *Host) Rules() core.Rules {
	if h.Recovery.Begun {
		return h.Setup.Machine.Spec().Rules
	}
	return core.NewestRules
}

// Spec returns the core's settings for the experiment file e and the opened plugins.
func (h *Host) Spec(e *config.Experiment, rules core.Rules) (core.Spec, error) {
	b := h.Setup
	x, err := spec.Of(e, b.File.Seed, h.Traits)
	x.Manual = b.Options.Mode.Manual
	if b.Stage != nil {
		x.Leases = b.Stage.Leases
	} else if !b.Leased() {
		x.Leases = nil
	}
	x.Rules = rules
	if x.Rules >= core.RulesV2 {
		x.Required = append(x.Required, spec.RequiredScore(e)...)
	}
	x.Start, x.Extended = h.Inherited.from, b.File.Extended()
	x.Saves = x.Saves || b.Options.Mode.Virtual // recorded trials can continue from any iteration
	return x, err
}

func (h *Host) started() *core.HostStarted {
	e := &core.HostStarted{Wall: h.Setup.Options.Clock.Now().UnixNano()}
	if stage := h.Setup.Stage; stage != nil {
		e.PID, e.Host, e.Boot = stage.PID, "rig", stage.Boot
	} else {
		e.PID, e.Host, e.Boot = uint32(os.Getpid()), hostname(), machine.Boot()
	}
	return e
}

// sayFewer warns if fewer trials are planned now than exist already.
func (h *Host) sayFewer(planned int64) {
	m := h.Setup.Machine
	if made := m.Planned(); planned >= 0 && planned < made && planned != m.Spec().Trials {
		h.Setup.Log.Warn(fmt.Sprintf("trials: %d are planned now, and %d are there already: none is removed and no "+
			"more are made; those that have not ended continue, and `tunehost stop DIR TRIAL` ends one", planned, made))
	}
}

// sameSpec compares settings as they are recorded.
func sameSpec(a, b core.Spec) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// nodes returns the nodes of this machine joining, checked before anything starts (B-035).
func (h *Host) nodes() (events []core.Event, err error) {
	if h.Setup.Stage != nil {
		return Joined(h.Offered.nodes), nil
	}
	if !h.Offered.needed() {
		return nil, nil
	}
	nodes, err := h.Offered.enough(!h.Requests)
	return Joined(nodes), err
}

// points returns trials for the points of the file (B-104) that are not recorded yet.
func (h *Host) points() (events []core.Event, err error) {
	e := h.Setup.Plan.Experiment
	plan := points.NewPlan(e)
	for i, p := range e.Points {
		if i < h.Recovery.PointsUsed {
			continue
		}
		g, err := plan.Trial(h.Setup.File.Seed, i)
		if err != nil {
			return nil, usererror.Wrap(p.Fault(err))
		}
		if err := h.Request(&g); err != nil {
			return nil, usererror.Wrap(err)
		}
		events = append(events, &core.TrialGiven{Suggestion: g})
	}
	return events, nil
}

// runnable returns an error if trials that never started (--unstarted) cannot run now.
func (h *Host) runnable(resets []core.Event, x core.Spec) error {
	if !h.Setup.Options.Again.Unstarted {
		return nil
	}
	if len(resets) == 0 {
		h.Setup.Log.Warn("--unstarted: there is no trial that never started")
		return nil
	}
	if limit := x.Budget.TrialsFailed; limit > 0 && h.failed(resets) >= int(limit) {
		return usererror.Errorf("%s: the budget of failed trials (budget.trials_failed: %d) is used up, and no trial "+
			"would run: raise it, as in `tunehost run FILE --set budget.trials_failed=%d --unstarted`, or run the "+
			"failed trials again, too, with --errored", h.Setup.Dir.Path(), limit, 2*limit)
	}
	if limit := x.Budget.TimeNS; limit > 0 && h.Setup.Machine.Counted() >= limit {
		return usererror.Errorf("%s: the time budget (budget.time: %s) is used up, and no trial would run: give it "+
			"more, as in `tunehost run FILE --set budget.time=2h --unstarted`",
			h.Setup.Dir.Path(), h.Setup.Plan.Experiment.Budget.Time)
	}
	return nil
}

// failed is how many trials are in ERROR after the resets.
func (h *Host) failed(resets []core.Event) int {
	n := h.Setup.Machine.Count(core.Errored)
	for _, e := range resets {
		if r, ok := e.(*core.TrialReset); ok && !r.Unstarted {
			n--
		}
	}
	return n
}

// Joined returns the events of nodes that join.
func Joined(nodes []resource.Node) []core.Event {
	events := make([]core.Event, len(nodes))
	for i, n := range nodes {
		events[i] = &core.NodeJoined{Node: n, More: i < len(nodes)-1}
	}
	return events
}

func hostname() string {
	host, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return host
}
