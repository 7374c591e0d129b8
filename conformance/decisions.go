package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// sendEvents sends the events, and executes the answer.
func (st *schedulerHost) sendEvents() error {
	events := st.untold
	st.untold = nil
	if len(events) == 0 {
		return nil
	}
	answer, err := st.scheduler.Decide(st.ctx, events)
	if err != nil {
		return err
	}
	answer = sdk.Decisions{Decisions: slices.Clone(answer.Decisions), Commands: slices.Clone(answer.Commands)}
	st.acts = append(st.acts, act{events, answer})
	st.execute(events, answer)
	return nil
}

// execute executes an answer.
func (st *schedulerHost) execute(events []sdk.Event, answer sdk.Decisions) {
	for _, a := range st.actors {
		a.undecided = 0
	}
	byNumber := map[uint64]sdk.Event{}
	for _, e := range events {
		byNumber[e.Number] = e
	}
	if st.traits.Quiet && len(answer.Decisions)+len(answer.Commands) > 0 {
		st.breach("quiet", "no decisions and no commands, as its trait quiet says", "%d and %d", len(answer.Decisions),
			len(answer.Commands))
	}
	for _, d := range answer.Decisions {
		st.decide(byNumber[d.Event], d)
	}
	for _, c := range answer.Commands {
		st.command(c)
	}
	for _, a := range st.actors {
		a.was = a.state
	}
}

// decide executes one decision.
func (st *schedulerHost) decide(e sdk.Event, d sdk.Decision) {
	if e.Kind != sdk.ResultReported || int(e.Trial) >= len(st.actors) {
		st.breach("decides", "decisions on results of this very call", "one on event %d", d.Event)
		return
	}
	if d.Verdict != sdk.Continue && strings.TrimSpace(d.Reason) == "" {
		st.breach("reasons", "a reason with each pause and stop", "none on event %d of trial %d", d.Event, e.Trial)
	}
	a := st.actors[e.Trial]
	if d.Verdict != sdk.Continue && e.Iteration < a.promised {
		st.breach("until", fmt.Sprintf("no verdict on trial %d before iteration %d, as was promised", e.Trial,
			a.promised), "one at iteration %d", e.Iteration)
	}
	a.until = max(a.until, d.Until)
	switch d.Verdict {
	case sdk.Continue:
		a.promised = max(a.promised, d.Until)
	case sdk.Pause:
		st.pause(a, e.Number)
	case sdk.Stop:
		st.stop(a)
	}
}

// pause executes the verdict on a result, unless the trial has paused since, for any reason: then it is
// executed already.
func (st *schedulerHost) pause(a *actor, result uint64) {
	st.paused++
	if !st.traits.Saves {
		st.breach("saves", "the trait saves of a scheduler that pauses or exploits", "a pause of trial %d without it",
			a.no)
	}
	switch {
	case result < a.aside:
	case a.state == running:
		a.enter(pausing)
	case a.state == pending: // it had to start again meanwhile
		st.setAside(a)
	}
}

func (st *schedulerHost) stop(a *actor) {
	switch a.state {
	case running, pausing:
		st.end(a, sdk.TrialCompleted)
	case pending, paused:
		st.end(a, sdk.TrialRemoved)
	}
}

// fitting are the states in which a trial may get a command.
var fitting = map[sdk.CommandKind]state{
	sdk.Resume: paused | pausing, sdk.StopTrial: pending | running | pausing | paused,
	sdk.Exploit: pending | running | pausing | paused, sdk.Resize: pending | paused,
}

var commandNames = map[sdk.CommandKind]string{
	sdk.Resume: "RESUME", sdk.StopTrial: "STOP_TRIAL", sdk.Exploit: "EXPLOIT", sdk.Resize: "RESIZE",
	sdk.StopAll: "STOP_ALL",
}

// command executes one command, if it is valid.
func (st *schedulerHost) command(c sdk.Command) {
	st.seen[c.Kind]++
	name := commandNames[c.Kind]
	if strings.TrimSpace(c.Reason) == "" {
		st.breach("reasons", "a reason with each command", "none with %s for trial %d", name, c.Trial)
	}
	if c.Kind == sdk.StopAll {
		for _, a := range st.actors {
			st.stop(a)
		}
		return
	}
	if int(c.Trial) >= len(st.actors) {
		st.breach("fitting", "commands for trials that exist", "%s for trial %d of %d", name, c.Trial, len(st.actors))
		return
	}
	a := st.actors[c.Trial]
	// A command that was valid when it was decided may be outdated by an event.
	if a.was&fitting[c.Kind] == 0 {
		st.breach("fitting", "commands that the trial's state allows", "%s for trial %d, which %s", name, c.Trial,
			a.state)
	}
	if a.state&fitting[c.Kind] == 0 {
		return
	}
	switch c.Kind {
	case sdk.Resume:
		st.resume(a)
	case sdk.StopTrial:
		st.stop(a)
	case sdk.Exploit:
		st.exploit(a, c)
	case sdk.Resize:
		st.resize(c)
	}
}

func (s state) String() string {
	switch s {
	case pending:
		return "waits for its start"
	case running:
		return "runs"
	case pausing:
		return "is being paused"
	case paused:
		return "is paused"
	}
	return "has ended"
}

func (st *schedulerHost) resume(a *actor) {
	a.held = false
	if a.state == pausing {
		a.restart = true
		return
	}
	st.enqueue(a)
}

// exploit lets a trial continue from another's checkpoint, or from its own with other parameters.
func (st *schedulerHost) exploit(a *actor, c sdk.Command) {
	if !st.traits.Saves {
		st.breach("saves", "the trait saves of a scheduler that pauses or exploits",
			"an exploit of trial %d without it", a.no)
	}
	switch {
	case c.Donor == c.Trial && c.Point == nil:
		st.breach("exploit", "other parameters for a trial that continues from its own checkpoint",
			"trial %d exploits itself without a point", c.Trial)
	case int(c.Donor) >= len(st.actors) || !slices.Contains(st.actors[c.Donor].saved, c.Iteration):
		st.breach("exploit", "a checkpoint that the trial has", "trial %d exploits trial %d at iteration %d", c.Trial,
			c.Donor, c.Iteration)
	default:
		a.iteration, a.saved = c.Iteration, append(a.saved, c.Iteration)
	}
	st.explore(a, c)
	switch a.state {
	case running:
		a.restart = true
		a.enter(pausing)
	case pausing:
		a.restart = true
	case paused:
		st.resume(a)
	}
}

func (st *schedulerHost) explore(a *actor, c sdk.Command) {
	if c.Point == nil {
		return
	}
	if err := st.problem.Space.Check(c.Point); err != nil {
		st.breach("exploit", "a point of the space", "trial %d explores %v: %v", a.no, c.Point, err)
		return
	}
	if !st.problem.Space.Holds(c.Point) {
		st.breach("exploit", "a point that satisfies the constraints", "trial %d explores %v", a.no, c.Point)
		return
	}
	a.point = slices.Clone(c.Point)
}

// resize checks a request in the form of the experiment file.
func (st *schedulerHost) resize(c sdk.Command) {
	if err := amounts(c.Resources); err != nil {
		st.breach("resize", `resources as {"cpu": 2, "gpu": "0.5"}`, "%s for trial %d: %v", c.Resources, c.Trial, err)
	}
}

// amounts checks a JSON object of resources.
func amounts(object []byte) error {
	var all map[string]any
	if err := json.Unmarshal(object, &all); err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("it asks for nothing")
	}
	for name, x := range all {
		switch x := x.(type) {
		case float64:
			if x < 0 {
				return fmt.Errorf("%q is negative", name)
			}
		case string:
			number := strings.TrimRight(x, "KMGTPEBi")
			if y, err := strconv.ParseFloat(number, 64); err != nil || y < 0 {
				return fmt.Errorf("%q is not an amount", name)
			}
		case []any: // bundles, each an object
		default:
			if name != "strategy" {
				return fmt.Errorf("%q is not an amount", name)
			}
		}
	}
	return nil
}
