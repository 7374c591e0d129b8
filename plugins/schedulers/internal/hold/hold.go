// Package hold follows a trial that its scheduler pauses and wakes.
//
// A pause takes time: between the verdict and the TrialPaused event the trial
// saves its checkpoint. Commands for it in that time are kept and given when it
// is paused, so that the host never gets a command for a trial that still runs.
package hold

import "github.com/tunehost/tunehost/plugins/sdk"

type phase uint8

const (
	free    phase = iota // waits for its start or runs, or someone else paused it
	pausing              // got the verdict Pause
	paused               // reached TrialPaused
	leaving              // pausing, and a command for it is kept
	ended
)

// Trial is one trial's phase. The zero value is a trial that was just added.
type Trial struct {
	phase phase
	kept  *sdk.Command
	// late: it started again before the pause that was ordered; the pause may
	// still come, and is the scheduler's own then.
	late bool
}

// Pause notes that the verdict Pause was given to it.
func (t *Trial) Pause() { *t = Trial{phase: pausing} }

// End notes that it ended or was told to stop.
func (t *Trial) End() { *t = Trial{phase: ended} }

// Ended says whether it ended.
func (t *Trial) Ended() bool { return t.phase == ended }

// Free says whether it may report results that count.
func (t *Trial) Free() bool { return t.phase == free }

// Held says whether it is paused, or about to be, without a command.
func (t *Trial) Held() bool { return t.phase == pausing || t.phase == paused }

// Paused says whether it is paused, without a command.
func (t *Trial) Paused() bool { return t.phase == paused }

// Late says whether it was started again between the verdict Pause and the pause:
// it is free, but a command may be needed all the same.
func (t *Trial) Late() bool { return t.phase == free && t.late }

// Doomed says whether a StopTrial command for it is kept, and that command's
// reason. Should it report meanwhile, it can be told to stop at once; the
// command is kept all the same, for a host that had carried out the pause.
func (t *Trial) Doomed() (reason string, ok bool) {
	if t.phase != leaving || t.kept.Kind != sdk.StopTrial {
		return "", false
	}
	return t.kept.Reason, true
}

// Order gives the command now, to a trial that is paused, or once it is. One
// that is free again, because a user resumed it, needs no waking but can be
// doomed.
func (t *Trial) Order(c sdk.Command, out *sdk.Decisions) {
	switch {
	case t.phase == paused:
		t.give(c, out)
	case t.phase == pausing, t.phase == free && c.Kind == sdk.StopTrial:
		t.phase, t.kept = leaving, &c
	case t.Late():
		t.kept = &c
	}
}

func (t *Trial) give(c sdk.Command, out *sdk.Decisions) {
	*t = Trial{}
	if c.Kind == sdk.StopTrial {
		t.End()
	}
	out.Commands = append(out.Commands, c)
}

// Observe follows events that are not results. It says whether the trial left
// its scheduler's hold without a command: someone else started it again.
func (t *Trial) Observe(e *sdk.Event, out *sdk.Decisions) (escaped bool) {
	switch e.Kind {
	case sdk.TrialPaused:
		t.reached(out)
	case sdk.TrialStarted:
		return t.started()
	case sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved:
		t.End()
	}
	return false
}

func (t *Trial) reached(out *sdk.Decisions) {
	switch {
	case t.phase == pausing:
		t.phase = paused
	case t.phase == leaving, t.Late() && t.kept != nil:
		t.give(*t.kept, out)
	case t.Late():
		*t = Trial{phase: paused}
	}
}

// started frees the trial: a user resumed it, or its host died or it failed while
// it was being paused and it runs again. Not so when it has to stop. What was
// being paused may be paused yet: the verdict can reach the new attempt.
func (t *Trial) started() bool {
	escaped := t.Held()
	switch _, doomed := t.Doomed(); {
	case t.phase == pausing:
		*t = Trial{late: true}
	case t.phase == leaving && !doomed:
		*t = Trial{late: true, kept: t.kept}
	case escaped:
		*t = Trial{}
	}
	return escaped
}
