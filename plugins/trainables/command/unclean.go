package command

import (
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// sayUnclean warns about a stopped program that did not clean up as intended. The trial has not
// failed, but files that the program saves at its end may be missing. The warning names the trial,
// so the user sees it once for each.
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
	case a.overdue: // the host also reports this if its own limit passes first
		return fmt.Sprintf("trial %d did not end within stop_grace (%v) of its stop and was killed: what it saves at "+
			"its end may be missing",
			a.trial.Number, seconds(a.trial.GraceSeconds))
	case a.killed || s == 0 || endedBy(s, syscall.SIGTERM):
		return ""
	case s.Signaled():
		return a.seeErrors(signalName(s.Signal()))
	}
	return a.seeErrors(fmt.Sprintf("exit status %d", s.ExitStatus()))
}

func (a *attempt) seeErrors(how string) string {
	text := fmt.Sprintf("trial %d failed while it cleaned up after its stop: %s", a.trial.Number, how)
	if a.stderr.File != nil {
		text += "; see " + filepath.Clean(a.stderr.Name())
	}
	return text
}

// endedBy reports whether a signal has ended a program, or one run by its shell.
func endedBy(s syscall.WaitStatus, sig syscall.Signal) bool {
	return s.Signaled() && s.Signal() == sig || s.Exited() && s.ExitStatus() == 128+int(sig)
}
