// Package hold tracks a trial that its scheduler pauses and wakes.
//
// A pause takes time: between the verdict and the TrialPaused event the trial saves its checkpoint.
// Commands in that time are kept until the trial is paused, so the host never gets a command for a
// running trial.
package hold

import "github.com/tunehost/tunehost/plugins/sdk"

type phase uint8

const (
	free    phase = iota // waits for its start or runs, or was paused by someone else
	pausing              // got the verdict Pause
	paused               // reached TrialPaused
	leaving              // pausing, with a command kept
	ended
)

// A Trial is one trial's phase. The zero value is a new trial.
type Trial struct {
	phase phase
	kept  *sdk.Command
	// late: it started again before the ordered pause; the pause may still come, and then belongs
	// to the scheduler.
	late bool
}

// Pause records the verdict Pause.
func (t *Trial) Pause() { *t = Trial{phase: pausing} }

// End records that it ended or was told to stop.
func (t *Trial) End() { *t = Trial{phase: ended} }

// Ended reports whether it ended.
func (t *Trial) Ended() bool { return t.phase == ended }

// Free reports whether it may report results that count.
func (t *Trial) Free() bool { return t.phase == free }

// Held reports whether it is paused, or about to be, without a command.
func (t *Trial) Held() bool { return t.phase == pausing || t.phase == paused }

// Paused reports whether it is paused, without a command.
func (t *Trial) Paused() bool { return t.phase == paused }

// Late reports whether it was started again between the verdict Pause and the pause: it is free,
// but may still need a command.
func (t *Trial) Late() bool { return t.phase == free && t.late }

// StopPending reports whether a StopTrial command for it is kept, and the reason. If it reports
// meanwhile, it can be stopped at once; the command is still kept, for a host that has executed the
// pause.
func (t *Trial) StopPending() (reason string, ok bool) {
	if t.phase != leaving || t.kept.Kind != sdk.StopTrial {
		return "", false
	}
	return t.kept.Reason, true
}

// Order sends the command now to a paused trial, or later when it is paused. A trial that is free
// again, because a user resumed it, needs no Resume but can be stopped.
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

// Observe processes events that are not results. It reports whether the trial was started again
// without a command of the scheduler.
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

// started frees the trial: a user resumed it, or its host died or it failed during the pause and it
// runs again. This does not apply if it has to stop. The pause may still happen: the verdict can
// reach the new attempt.
func (t *Trial) started() bool {
	escaped := t.Held()
	switch _, doomed := t.StopPending(); {
	case t.phase == pausing:
		*t = Trial{late: true}
	case t.phase == leaving && !doomed:
		*t = Trial{late: true, kept: t.kept}
	case escaped:
		*t = Trial{}
	}
	return escaped
}
