package life

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// Action is something that the driver of an attempt must do. The set is closed.
type Action interface{ action() }

type (
	// Launch: find a process for the attempt, or start one. Assigned or LaunchFailed
	// answers.
	Launch struct{}
	// CancelLaunch: end the copy of a checkpoint, or the start of a process, if one is under way.
	CancelLaunch struct{}
	// Renew: start a fresh process, since the reused one could not be reset. Retire: close the
	// old process, which still runs.
	Renew struct {
		Why    string
		Retire bool
	}
	// Retry: start another process after a while, since the machine lacked something; with Full once there
	// is room on the disk, and the old process still runs.
	Retry struct{ Full bool }

	// Tell: send a command to the process. Now: send it at once, not with the next batch.
	Tell struct {
		Command train.Command
		Now     bool
	}
	// WatchBegin: send NotBegun unless the attempt starts in time.
	WatchBegin struct{}
	// UnwatchBegin: stop that timer.
	UnwatchBegin struct{}
	// Arm: send WaitOver after a wait, which replaces an earlier wait.
	Arm struct{ Wait Wait }
	// Disarm: send no WaitOver.
	Disarm struct{}
	// WarnGraceOver: tell the user that a program used up its grace.
	WarnGraceOver struct{}
	// Replace: kill the process, which was not reset in time. ProcessLost follows.
	Replace struct{}
	// Destroy: kill the process, with all other attempts in it. ProcessLost follows. Ignored:
	// the attempt did not stop when told.
	Destroy struct{ Ignored bool }

	// Commit: complete a checkpoint that the trainable has written.
	Commit struct{ Save Save }
	// Hold: keep what the trainable has written in memory.
	Hold struct{ Save Save }
	// SaveAgain: ask for the save again when there is room. Why is the trainable's error.
	SaveAgain struct {
		Save Save
		Why  string
	}
	// FailSave: tell the core that a save has failed.
	FailSave struct {
		Save  Save
		Error string
	}

	// CommitExport: keep a model that the trainable left. ExportMade answers.
	CommitExport struct{ Format string }
	// FailExport: tell the core and the user that a format has no model. GivenUp: because the host was told to end.
	FailExport struct {
		Format, Error string
		GivenUp       bool
	}
	// ClearExports: remove models that were not kept. ExportsCleared answers.
	ClearExports struct{}

	// Post: send an event to the core.
	Post struct{ Event core.Event }
	// Leave: ignore all later events of the process about the attempt.
	Leave struct{}
	// Free: the attempt no longer uses its process. Clean: it ended well, so that the process
	// may take another attempt.
	Free struct{ Clean bool }
	// End: tell the core that the attempt has ended. Own: the trainable's own reports are the
	// cause, even if something else is wrong too.
	End struct {
		Event *core.AttemptEnded
		Own   bool
	}
)

func (Launch) action()        {}
func (CancelLaunch) action()  {}
func (Renew) action()         {}
func (Retry) action()         {}
func (Tell) action()          {}
func (WatchBegin) action()    {}
func (UnwatchBegin) action()  {}
func (Arm) action()           {}
func (Disarm) action()        {}
func (WarnGraceOver) action() {}
func (Replace) action()       {}
func (Destroy) action()       {}
func (Commit) action()        {}
func (Hold) action()          {}
func (SaveAgain) action()     {}
func (FailSave) action()      {}
func (CommitExport) action()  {}
func (FailExport) action()    {}
func (ClearExports) action()  {}
func (Post) action()          {}
func (Leave) action()         {}
func (Free) action()          {}
func (End) action()           {}

// Wait is a time limit. The driver knows its length.
type Wait uint8

// Waits.
const (
	// Grace is the time to stop in order, as the experiment says.
	Grace Wait = iota + 1
	// KillGrace is the time for a trainable to end an attempt that it was told to kill.
	KillGrace
	// LastMoment is more time for a process that other attempts use.
	LastMoment
)

// String returns the wait in words.
func (w Wait) String() string {
	return [...]string{"", "the grace", "the kill grace", "a last moment"}[w]
}
