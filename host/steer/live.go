package steer

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/points"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Host is the port to the host that runs an experiment: what its loop does for those who
// steer. An error means that the loop has ended.
type Host interface {
	// Look calls f with the experiment as it stands between two events. f reads, waits for
	// nothing and returns soon.
	Look(f func(*view.State)) error
	// Post has an event recorded and applied, and then calls f, before anything else happens.
	Post(e core.Event, f func(*view.State)) error
	// Fill completes a trial with what it asks for of the machine.
	Fill(*core.Suggestion) error
}

// Live carries out what a user asks of an experiment that a host in this process runs. Its
// methods may be called by several goroutines; errors are for the user, in one line.
type Live struct {
	*view.Facts
	Host Host
	// Elapsed is the running time now.
	Elapsed func() time.Duration
}

// LossError is a request that was not carried out because progress would be lost.
type LossError struct{ What string }

// Error implements error.
func (e *LossError) Error() string { return e.What }

// look calls f with the machine.
func (c *Live) look(f func(*core.Machine)) error {
	return c.Host.Look(func(s *view.State) { f(s.Machine) })
}

// Find is the trial of a number or an id.
func (c *Live) Find(name string) (no uint32, err error) {
	failed := c.Host.Look(func(s *view.State) {
		var found core.TrialNo
		found, err = s.Find(name)
		no = uint32(found)
	})
	return no, errors.Join(err, failed)
}

// Stop ends a trial, or, for nil, the experiment.
func (c *Live) Stop(trial *uint32) error {
	no, all := target(trial)
	e := &core.StopRequested{Trial: no, All: all}
	if !all {
		return c.postTo(e, no, "only what has not ended can be stopped",
			func(v core.View) bool { return !v.State.Final() })
	}
	if err := c.unlessEnding(core.StoppedByUser); err != nil {
		return err
	}
	return c.postLast(e)
}

// Interrupt ends the host such that the experiment can go on later, as Ctrl-C does.
func (c *Live) Interrupt() error {
	if err := c.unlessEnding(core.InterruptedByUser); err != nil {
		return err
	}
	return c.postLast(&core.Interrupted{})
}

// unlessEnding refuses to end an experiment in a way that would change nothing: what is
// ending for good is not interrupted, and what is interrupted or fails is not stopped.
func (c *Live) unlessEnding(as core.Outcome) error {
	var ending core.Outcome
	var forGood bool
	if err := c.look(func(m *core.Machine) { ending, _ = m.Ending(); forGood = m.EndsForGood() }); err != nil {
		return err
	}
	if ending <= as && !(forGood && as == core.InterruptedByUser) {
		return nil
	}
	if forGood {
		return fmt.Errorf("the experiment is ending already, and will be %s", ending)
	}
	return fmt.Errorf("the experiment is ending already, and will be %s; "+
		"when it has ended, `tunehost resume DIR` goes on with it", ending)
}

// Pause holds a trial, or, for nil, all of them. It returns a [LossError] where progress would
// be lost, unless force is set.
func (c *Live) Pause(trial *uint32, force bool) error {
	no, all := target(trial)
	var lost losses
	if err := c.look(func(m *core.Machine) {
		lost = lossesOf(m, no, all,
			c.Elapsed()-time.Duration(m.Now()))
	}); err != nil {
		return err
	}
	if text := lost.text(c.TrialName); text != "" && !force {
		return &LossError{What: text}
	}
	e := &core.PauseRequested{Trial: no, All: all}
	if all {
		return c.post(e)
	}
	return c.postTo(e, no, "only what runs or waits can be paused", canPause)
}

// canPause: an order to pause changes nothing in a trial that is paused, or about to pause or to
// end.
func canPause(v core.View) bool {
	return v.State == core.Pending || v.State == core.Running && !v.Stopping && !v.Pausing
}

// Retry runs a trial in ERROR again; fresh: in a new directory (B-082).
func (c *Live) Retry(trial uint32, fresh bool) error {
	no := core.TrialNo(trial)
	var before, after core.View
	if err := c.look(func(m *core.Machine) { before = m.View(no) }); err != nil {
		return err
	}
	if before.State != core.Errored {
		return NotFailed(c.TrialName(no), before)
	}
	reset := &core.TrialReset{Trial: no, Scratch: fresh, Fresh: fresh, Steered: true}
	if err := c.Host.Post(reset, func(s *view.State) { after = s.Machine.View(no) }); err != nil {
		return err
	}
	if after.State == core.Errored && after.Attempt == before.Attempt {
		return fmt.Errorf("the experiment is ending: when it has ended, `tunehost resume DIR --retry %d` runs the trial again", no)
	}
	return nil
}

// NotFailed says why a trial is not run again.
func NotFailed(name string, v core.View) error {
	if v.NeverStarted {
		return fmt.Errorf("%s has not failed: it never started; `tunehost resume DIR --unstarted` runs such trials", name)
	}
	return fmt.Errorf("%s is %s: only a trial in ERROR can be run again", name, v.State)
}

// Unpause lets a trial go on, or, for nil, all of them.
func (c *Live) Unpause(trial *uint32) error {
	no, all := target(trial)
	e := &core.UnpauseRequested{Trial: no, All: all}
	var paused, onHold bool
	if err := c.look(func(m *core.Machine) { paused, onHold = anyPaused(m), m.OnHold() }); err != nil {
		return err
	}
	switch {
	case !all && onHold:
		return errors.New("the experiment is paused as a whole: unpause it, without naming a trial")
	case !all:
		return c.postTo(e, no, "only what is paused can go on", isPaused)
	case !paused:
		return errors.New("nothing is paused")
	}
	return c.post(e)
}

// isPaused: it is paused, or is about to be.
func isPaused(v core.View) bool {
	return v.State == core.Paused || v.Pausing
}

func anyPaused(m *core.Machine) bool {
	if m.Paused() || m.Count(core.Paused) > 0 {
		return true
	}
	for no := range core.TrialNo(m.Trials()) {
		if m.State(no) == core.Running && m.View(no).Pausing {
			return true
		}
	}
	return false
}

// postTo is post for a trial, unless the event would change nothing in it: a command must not
// confirm what does not happen. Of what it would change something in, only tells the user.
func (c *Live) postTo(e core.Event, no core.TrialNo, only string, fits func(core.View) bool) error {
	var v core.View
	if err := c.look(func(m *core.Machine) { v = m.View(no) }); err != nil {
		return err
	}
	if !fits(v) {
		return fmt.Errorf("%s %s: %s", c.TrialName(no), condition(v), only)
	}
	return c.post(e)
}

// condition is a trial's state, with what is about to become of it.
func condition(v core.View) string {
	switch {
	case v.NeverStarted:
		return "never started, and has ended"
	case v.Pausing:
		return "is about to pause"
	case v.State == core.Running && v.Stopping:
		return "is about to end"
	}
	return "is " + v.State.String()
}

func target(trial *uint32) (no core.TrialNo, all bool) {
	if trial == nil {
		return 0, true
	}
	return core.TrialNo(*trial), false
}

// post returns when the event is recorded and applied.
func (c *Live) post(e core.Event) error {
	return c.Host.Post(e, func(*view.State) {})
}

// postLast is post for what ends the experiment: where nothing runs, it has ended before
// it can be looked at again.
func (c *Live) postLast(e core.Event) error {
	if err := c.post(e); !errors.Is(err, core.ErrFinished) {
		return err
	}
	return nil
}

// Add makes a trial of parameters, a JSON object, whole or partial (B-007).
func (c *Live) Add(params []byte) (no uint32, err error) {
	given, err := c.Config.Given("params", params)
	if err != nil {
		return 0, err
	}
	g, err := c.complete(given)
	if err != nil {
		return 0, err
	}
	return c.give(&core.TrialGiven{Suggestion: g, Extra: true})
}

// complete makes a trial of a point that the user gave, perhaps in part.
func (c *Live) complete(given space.Point) (g core.Suggestion, err error) {
	e, seed := c.Config, c.Seed
	var index uint64
	if err := c.look(func(m *core.Machine) { index = uint64(m.Trials()) }); err != nil {
		return g, err
	}
	if g, err = points.Complete(e, seed, uint64(len(e.Points))+index, given); err == nil {
		err = c.Host.Fill(&g)
	}
	return g, err
}

// give returns the number of the trial, or of the first of its runs.
func (c *Live) give(e *core.TrialGiven) (no uint32, err error) {
	err = c.Host.Post(e, func(s *view.State) {
		first, _ := s.Machine.Runs(core.TrialNo(s.Trials() - 1))
		no = uint32(first)
	})
	return no, err
}

// Clone makes a trial of another's parameters, but for those given, which starts from the
// other one's newest checkpoint.
func (c *Live) Clone(trial uint32, params []byte) (no uint32, err error) {
	donor := core.TrialNo(trial)
	given, err := c.Config.Given("params", params)
	if err != nil {
		return 0, err
	}
	var g core.Suggestion
	saved := false
	err = c.look(func(m *core.Machine) {
		saved = len(m.Checkpoints(donor)) > 0
		g.Params = bytes.Clone(m.Params(donor))
	})
	switch {
	case err != nil:
		return 0, err
	case !saved:
		return 0, fmt.Errorf("%s has no checkpoint to start from; add a trial with its parameters instead",
			c.TrialName(donor))
	}
	if slices.ContainsFunc(given, func(x float64) bool { return !math.IsNaN(x) }) {
		g, err = c.changed(g.Params, given)
	} else {
		err = c.Host.Fill(&g)
	}
	if err != nil {
		return 0, err
	}
	return c.give(&core.TrialGiven{Suggestion: g, Extra: true, Clone: true, Donor: donor})
}

// changed makes a trial of another's parameters, but for those given.
func (c *Live) changed(params []byte, given space.Point) (g core.Suggestion, err error) {
	p, err := config.PointOf(c.Config.Space, params)
	if err != nil {
		return g, err
	}
	for i, x := range given {
		if !math.IsNaN(x) {
			p[i] = x
		}
	}
	c.Config.Prune(p) // what was changed may leave others without a use
	return c.complete(p)
}
