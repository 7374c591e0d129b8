package command

import (
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// sayUnclean warns of a program that was stopped and did not clean up as it meant to. The trial
// has not failed for that, but what the program saves at its end may be missing. The warning
// names the trial, so that the user sees it once for each.
func (a *attempt) sayUnclean() {
	if text := a.unclean(); text != "" {
		if h, ok := a.run.(sdk.Hinter); ok {
			h.Hint(text)
			return
		}
		a.run.Log("warning: " + text)
	}
}

func (a *attempt) unclean() string {
	s := a.proc.status
	switch {
	case a.overdue: // the host says the same where it is the first to lose patience
		return fmt.Sprintf("trial %d did not end within stop_grace (%v) of its stop and was killed: what it saves at its end may be missing",
			a.trial.Number, seconds(a.trial.GraceSeconds))
	case a.killed || s == 0 || endedBy(s, syscall.SIGTERM):
		return ""
	case s.Signaled():
		return a.seeErrors(signalName(s.Signal()))
	}
	return a.seeErrors(fmt.Sprintf("exit status %d", s.ExitStatus()))
}

func (a *attempt) seeErrors(how string) string {
	text := fmt.Sprintf("trial %d failed as it cleaned up after its stop: %s", a.trial.Number, how)
	if a.stderr.File != nil {
		text += "; see " + filepath.Clean(a.stderr.Name())
	}
	return text
}

// endedBy says whether a signal has ended a program, or one that its shell has run.
func endedBy(s syscall.WaitStatus, sig syscall.Signal) bool {
	return s.Signaled() && s.Signal() == sig || s.Exited() && s.ExitStatus() == 128+int(sig)
}
