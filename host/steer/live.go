package steer

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/points"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Host is the port to the host that runs an experiment: the functions of its loop for
// requests. An error means that the loop has ended.
type Host interface {
	// Look calls f with the experiment between two events. f only reads, waits for
	// nothing and returns soon.
	Look(f func(*view.State)) error
	// Post records and applies an event, and then calls f, before any other event. It does neither, and returns an
	// error, if open returns false when it is the event's turn; nil: it returns true.
	Post(e core.Event, open func() bool, f func(*view.State)) error
	// Leave tells a host that it is about to be interrupted: from now on it ends where the disk is full, and does not
	// wait for room.
	Leave()
	// Waits reports whether something in the host waits for room on a full disk.
	Waits() bool
	// Fill adds the resource request to a trial.
	Fill(*core.Suggestion) error
}

// Live is the [Handler] of an experiment that a host in this process runs.
type Live struct {
	*view.Facts
	Host Host
	// Elapsed returns the running time.
	Elapsed func() time.Duration
	// Settings is nil if nothing is stored for later hosts; then settings cannot change.
	Settings Settings
	// open reports whether a request may still be carried out; nil: it may.
	open func() bool
}

var _ Timely = (*Live)(nil)

// While implements [Timely].
func (c *Live) While(open func() bool) Handler {
	x := *c
	x.open = open
	return &x
}

// look calls f with the machine.
func (c *Live) look(f func(*core.Machine)) error {
	return c.Host.Look(func(s *view.State) { f(s.Machine) })
}

// Do implements [Handler].
func (c *Live) Do(r Request) (a Answer, err error) {
	switch r := r.(type) {
	case Stop:
		err = c.stop(r)
	case Interrupt:
		err = c.interrupt()
	case Pause:
		err = c.pause(r)
	case Unpause:
		a.Warnings, err = c.unpause(r)
	case Retry:
		err = c.retry(r)
	case Add:
		a.Trial, err = c.add(r)
	case Set:
		a, err = c.set(r)
	default:
		err = fmt.Errorf("%T is not a request", r)
	}
	return a, err
}

// find returns the trial with a number or an id; "" means all trials.
func (c *Live) find(name string) (no core.TrialNo, all bool, err error) {
	if name == "" {
		return 0, true, nil
	}
	failed := c.Host.Look(func(s *view.State) { no, err = s.Find(name) })
	return no, false, errors.Join(err, failed)
}

func (c *Live) stop(r Stop) error {
	no, all, err := c.find(r.Trial)
	if err != nil {
		return err
	}
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

// interrupt ends the host so that the experiment can be resumed later, as Ctrl-C does.
func (c *Live) interrupt() error {
	waits := c.Host.Waits()
	if waits {
		c.Host.Leave() // first: a loop that waits for room cannot be looked at
	}
	err := c.unlessEnding(core.InterruptedByUser)
	switch {
	case waits && errors.Is(err, core.ErrFinished):
		return nil
	case err != nil:
		return err
	}
	c.Host.Leave()
	return c.postLast(&core.Interrupted{})
}

// unlessEnding refuses requests that would change nothing: an experiment that is
// ending for good is not interrupted, and one that is interrupted or fails is not stopped.
func (c *Live) unlessEnding(as core.Outcome) error {
	var ending core.Outcome
	var forGood, manual bool
	if err := c.look(func(m *core.Machine) {
		ending, _ = m.Ending()
		forGood, manual = m.EndsForGood(), m.Spec().Manual
	}); err != nil {
		return err
	}
	if ending <= as && !(forGood && as == core.InterruptedByUser) {
		return nil
	}
	if forGood {
		return fmt.Errorf("the experiment is ending already, and will be %s", ending)
	}
	return fmt.Errorf("the experiment is ending already, and will be %s; "+
		"when it has ended, %s resumes it", ending, view.Resumer(manual, "DIR"))
}

func (c *Live) pause(r Pause) error {
	no, all, err := c.find(r.Trial)
	if err != nil {
		return err
	}
	var lost losses
	if err := c.look(func(m *core.Machine) {
		lost = lossesOf(m, no, all,
			c.Elapsed()-time.Duration(m.Now()))
	}); err != nil {
		return err
	}
	if text := lost.text(c.TrialName); text != "" && !r.Force {
		return &LossError{What: text}
	}
	e := &core.PauseRequested{Trial: no, All: all}
	if all {
		return c.post(e)
	}
	return c.postTo(e, no, "only what runs or waits can be paused", canPause)
}

// canPause reports whether a pause would change a trial: it is not paused, and not about to pause or to
// end.
func canPause(v core.View) bool {
	return v.State == core.Pending || v.State == core.Running && !v.Stopping && !v.Pausing
}

func (c *Live) retry(r Retry) error {
	no, all, err := c.find(r.Trial)
	if err != nil {
		return err
	}
	if all {
		return errors.New("name the trial that is to run again, by its number or id")
	}
	var before, after core.View
	if err := c.look(func(m *core.Machine) { before = m.View(no) }); err != nil {
		return err
	}
	if before.State != core.Errored {
		return NotFailed(c.TrialName(no), before)
	}
	manual := false
	reset := &core.TrialReset{Trial: no, Scratch: r.Fresh, Fresh: r.Fresh, Steered: true}
	if err := c.Host.Post(reset, c.open, func(s *view.State) {
		after, manual = s.Machine.View(no), s.Machine.Spec().Manual
	}); err != nil {
		return err
	}
	if after.State == core.Errored && after.Attempt == before.Attempt {
		return fmt.Errorf("the experiment is ending: when it has ended, %s", view.Retrier(manual, "DIR", no, false))
	}
	return nil
}

// NotFailed returns why a trial does not run again.
func NotFailed(name string, v core.View) error {
	if v.NeverStarted {
		return usererror.Errorf("%s has not failed: it never started; when no host runs the experiment, "+
			"`tunehost resume DIR --unstarted` runs such trials, or a request to resume with {\"unstarted\": true}",
			name)
	}
	return usererror.Errorf("%s is %s: only a trial in ERROR can be run again", name, v.State)
}

func (c *Live) unpause(r Unpause) (warnings []string, err error) {
	no, all, err := c.find(r.Trial)
	if err != nil {
		return nil, err
	}
	e := &core.UnpauseRequested{Trial: no, All: all}
	var paused, onHold bool
	if err := c.look(func(m *core.Machine) { paused, onHold = anyPaused(m), m.OnHold() }); err != nil {
		return nil, err
	}
	switch {
	case !all && onHold:
		return nil, errors.New("the experiment is paused as a whole: continue it first, without naming a trial")
	case !all:
		return nil, c.postTo(e, no, "only a paused trial can continue", isPaused)
	case !paused:
		return nil, errors.New("nothing is paused")
	}
	err = c.Host.Post(e, c.open, func(s *view.State) { warnings = c.staying(s.Machine) })
	return warnings, err
}

// namedStaying is how many trials a warning names.
const namedStaying = 5

// staying says which trials the user has paused that do not continue with the experiment.
func (c *Live) staying(m *core.Machine) (warnings []string) {
	var names []string
	n := 0
	for no := range core.TrialNo(m.Trials()) {
		if v := m.View(no); v.Held {
			if n++; n <= namedStaying {
				names = append(names, c.TrialName(no))
			}
		}
	}
	if n == 0 {
		return nil
	}
	if n > namedStaying {
		names = append(names, fmt.Sprintf("%d more", n-namedStaying))
	}
	return []string{strings.Join(names, ", ") + ": still paused, as before the experiment was; " +
		"to continue, unpause them, too"}
}

// isPaused reports whether a trial is paused or is about to be.
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

// postTo is post for a trial, unless the event would not change it: a command must not
// confirm a request without an effect. The error names the states in which it has one.
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

// condition is a trial's state, including a pending change.
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

// post returns when the event is recorded and applied.
func (c *Live) post(e core.Event) error {
	return c.Host.Post(e, c.open, func(*view.State) {})
}

// postLast is post for the end of the experiment: if nothing runs, it has ended before
// the next look.
func (c *Live) postLast(e core.Event) error {
	if err := c.post(e); !errors.Is(err, core.ErrFinished) {
		return err
	}
	return nil
}

func (c *Live) add(r Add) (no *core.TrialNo, err error) {
	given, err := c.Config.ParsePoint("params", r.Params)
	if err != nil {
		return nil, err
	}
	if r.Clone != "" {
		return c.clone(r.Clone, given)
	}
	g, err := c.complete(given, nil)
	if err != nil {
		return nil, err
	}
	return c.give(&core.TrialGiven{Suggestion: g, Extra: true})
}

// complete makes a trial from a complete or partial point of the user, like one with other parameters if there are any.
func (c *Live) complete(given space.Point, like []byte) (g core.Suggestion, err error) {
	e, seed := c.Config, c.Seed
	var index uint64
	if err := c.look(func(m *core.Machine) { index = uint64(m.Trials()) }); err != nil {
		return g, err
	}
	if g, err = points.Changed(e, seed, uint64(len(e.Points))+index, given, like); err == nil {
		err = c.Host.Fill(&g)
	}
	return g, err
}

// give posts the trial and returns its number, or that of the first of its runs.
func (c *Live) give(e *core.TrialGiven) (*core.TrialNo, error) {
	var no core.TrialNo
	err := c.Host.Post(e, c.open, func(s *view.State) { no, _ = s.Machine.Runs(core.TrialNo(s.Trials() - 1)) })
	return &no, err
}

// clone makes a trial with another's parameters, except those given, which starts from the
// other one's newest checkpoint.
func (c *Live) clone(name string, given space.Point) (no *core.TrialNo, err error) {
	donor, _, err := c.find(name)
	if err != nil {
		return nil, err
	}
	var g core.Suggestion
	saved, over := false, ""
	err = c.look(func(m *core.Machine) {
		saved = len(m.Checkpoints(donor)) > 0
		over = c.Config.NothingLeft(m.View(donor).Checkpoint.Iteration)
		g.Params = bytes.Clone(m.Params(donor))
	})
	switch {
	case err != nil:
		return nil, err
	case !saved:
		return nil, fmt.Errorf("%s has no checkpoint to start from; add a trial with its parameters instead",
			c.TrialName(donor))
	case over != "":
		return nil, fmt.Errorf("the newest checkpoint of %s %s, or add a trial with its parameters instead",
			c.TrialName(donor), over)
	}
	if slices.ContainsFunc(given, func(x float64) bool { return !math.IsNaN(x) }) {
		g, err = c.changed(g.Params, given)
	} else {
		err = c.Host.Fill(&g)
	}
	if err != nil {
		return nil, err
	}
	return c.give(&core.TrialGiven{Suggestion: g, Extra: true, Clone: true, Donor: donor})
}

// changed makes a trial with another's parameters, except those given and the random ones that depend on them.
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
	for i, x := range given {
		if !math.IsNaN(x) && math.IsNaN(p[i]) {
			return g, usererror.Errorf("%s does not exist with the other parameters of the clone, because its "+
				"condition (when) does not hold: give those that it depends on, too", c.Config.Space.Params[i].Name)
		}
	}
	return c.complete(p, params)
}
