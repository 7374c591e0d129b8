package consult

import (
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// commandNames are the commands as the protocol names them.
var commandNames = map[sdk.CommandKind]string{sdk.Resume: "RESUME", sdk.StopTrial: "STOP_TRIAL",
	sdk.Exploit: "EXPLOIT", sdk.Resize: "RESIZE"}

// toldTrials are the trials as the scheduler knows them: the kind of the last event of each that changed its state;
// 0: it existed before this host, or the scheduler has let it pause since.
type toldTrials []sdk.EventKind

// hear notes what the scheduler is told.
func (t *toldTrials) hear(events []sdk.Event) {
	for _, e := range events {
		switch e.Kind {
		case sdk.TrialAdded, sdk.TrialStarted, sdk.TrialPaused, sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved,
			sdk.TrialRequeued:
			for uint32(len(*t)) <= e.Trial {
				*t = append(*t, 0)
			}
			(*t)[e.Trial] = e.Kind
		}
	}
}

// pauses notes the trials that the scheduler pauses with an answer to the events, or moves to a checkpoint, which
// pauses them: it may resume them at once.
func (t toldTrials) pauses(events []sdk.Event, answer *sdk.Decisions) {
	pause := func(trial uint32) {
		if int(trial) < len(t) && t[trial] == sdk.TrialStarted {
			t[trial] = 0
		}
	}
	for _, d := range answer.Decisions {
		of := slices.IndexFunc(events, func(e sdk.Event) bool { return e.Number == d.Event })
		if d.Verdict == sdk.Pause && of >= 0 {
			pause(events[of].Trial)
		}
	}
	for _, c := range answer.Commands {
		if c.Kind == sdk.Exploit {
			pause(c.Trial)
		}
	}
}

// check refuses commands for trials that do not exist, and warns of those that the trial's state, as the scheduler
// knows it, does not allow. A state that has changed since is nobody's mistake.
func (t toldTrials) check(commands []sdk.Command, rules core.Rules, warn func(kind, text string)) error {
	for i := range commands {
		c := &commands[i]
		name, ok := commandNames[c.Kind]
		switch {
		case !ok: // it is for no trial
		case int(c.Trial) >= len(t):
			return fmt.Errorf("%s is for trial %d, which does not exist: %s; command trials of its events", name,
				c.Trial, t.count())
		default:
			if why := misfit(c, t[c.Trial], rules); why != "" {
				warn(name, fmt.Sprintf("its command %s for trial %d has no effect: %s; this is reported only once",
					name, c.Trial, why))
			}
		}
	}
	return nil
}

// misfit says why a command after an event has no effect; "" if it has one, or is not needed.
func misfit(c *sdk.Command, last sdk.EventKind, rules core.Rules) string {
	switch {
	case last == sdk.TrialCompleted, last == sdk.TrialFailed, last == sdk.TrialRemoved:
		return "the trial has ended"
	case c.Kind == sdk.StopTrial && last == sdk.TrialStarted && rules < core.RulesV8:
		return "the trial runs; a decision on its next result stops it"
	case c.Kind == sdk.Resize && len(c.Resources) == 0:
		return "it names no resources"
	case c.Kind == sdk.Resume && last == sdk.TrialStarted:
		return "the trial runs: it is not paused"
	}
	return ""
}

func (t toldTrials) count() string {
	switch len(t) {
	case 0:
		return "there is none"
	case 1:
		return "there is only trial 0"
	}
	return fmt.Sprintf("there are trials 0 to %d", len(t)-1)
}
