package life

import "github.com/tunehost/tunehost/core"

// Event is something that has happened to an attempt. The set is closed.
type Event interface{ kind() kind }

type (
	// DirReady: the attempt's directory exists, with the checkpoint that it continues from.
	DirReady struct{}
	// DirFailed: the directory could not be made. The attempt ends with End.
	DirFailed struct{ End core.AttemptEnded }
	// Assigned: a process takes the attempt. Warm: it was started for another attempt.
	Assigned struct{ Warm bool }
	// LaunchFailed: no process could be started. Unreachable: its place cannot be reached.
	LaunchFailed struct {
		Error        string
		NeverStarted bool
		Unreachable  bool
	}

	// Started: the trainable trains, or says that it cannot begin yet (Waiting).
	Started struct {
		PID     uint32
		Waiting bool
	}
	// InvalidReport: the trainable reported something invalid.
	InvalidReport struct{ Cause core.Cause }
	// Saved answers the oldest open save. Full: there was no room for it.
	Saved struct {
		Iteration uint64
		Error     string
		Full      bool
	}
	// Exported: the trainable left its model in a format, or failed to.
	Exported struct{ Format, Error string }
	// Finished: the trainable reports its end. Error is "" if it ended well. Full: there was no room
	// on a disk.
	Finished struct {
		Error                             string
		NeverStarted, RestoreFailed, Full bool
	}
	// ProcessLost: the attempt's process is gone. Error says how it ended. LastOutput, which is
	// appended to it, is what the attempt wrote last. Short: the machine lacked something for
	// the process, such as threads. Doomed: the process was killed because of another attempt.
	ProcessLost struct {
		Error        string
		LastOutput   string
		NeverStarted bool
		Short        bool
		Doomed       bool
	}

	// SaveAsked: the core wants a checkpoint, whose folder exists.
	SaveAsked struct{ Save Save }
	// SaveImpossible: a checkpoint cannot be made, for a reason outside the trainable.
	SaveImpossible struct {
		ID    uint32
		Error string
		// GivenUp says that the host was told to end.
		GivenUp bool
	}
	// Stop: the attempt is to end. Save is its last checkpoint; its ID is 0 for none.
	Stop struct {
		Paused bool
		Save   Save
	}
	// Kill: the rest of the grace is canceled. It follows a Stop.
	Kill struct{}

	// WaitOver: the current wait is over.
	WaitOver struct{}
	// NotBegun: the process has not said in time that it started the attempt. Others: other
	// attempts run in it.
	NotBegun struct {
		Cause  core.Cause
		Others bool
	}
	// Silent: the trainable has been silent for too long.
	Silent struct{ Cause core.Cause }

	// ExportMade: a model was kept, or could not be kept.
	ExportMade struct {
		Format string
		Bytes  int64
		Error  string
		// GivenUp says that the host was told to end.
		GivenUp bool
	}
	// ExportsCleared: models that were not kept are removed.
	ExportsCleared struct{}
	// HostClosing: the host ends and starts nothing more.
	HostClosing struct{}
)

// Save is a checkpoint that was asked for.
type Save struct {
	ID        uint32
	Iteration uint64
	Dir       string
	Memory    bool // kept in memory, for a pause
}

type kind uint8

const (
	dirReady kind = iota
	dirFailed
	assigned
	launchFailed
	started
	invalidReport
	saved
	exported
	finished
	processLost
	saveAsked
	saveImpossible
	stop
	kill
	waitOver
	notBegun
	silent
	exportMade
	exportsCleared
	hostClosing

	kinds = int(hostClosing) + 1
)

func (DirReady) kind() kind       { return dirReady }
func (DirFailed) kind() kind      { return dirFailed }
func (Assigned) kind() kind       { return assigned }
func (LaunchFailed) kind() kind   { return launchFailed }
func (Started) kind() kind        { return started }
func (InvalidReport) kind() kind  { return invalidReport }
func (Saved) kind() kind          { return saved }
func (Exported) kind() kind       { return exported }
func (Finished) kind() kind       { return finished }
func (ProcessLost) kind() kind    { return processLost }
func (SaveAsked) kind() kind      { return saveAsked }
func (SaveImpossible) kind() kind { return saveImpossible }
func (Stop) kind() kind           { return stop }
func (Kill) kind() kind           { return kill }
func (WaitOver) kind() kind       { return waitOver }
func (NotBegun) kind() kind       { return notBegun }
func (Silent) kind() kind         { return silent }
func (ExportMade) kind() kind     { return exportMade }
func (ExportsCleared) kind() kind { return exportsCleared }
func (HostClosing) kind() kind    { return hostClosing }

// answer reports whether the event answers an action. Without that action it is a bug.
func (k kind) answer() bool { return k <= launchFailed || k == exportMade || k == exportsCleared }

// fromTrainable reports whether the event comes from the trainable; such events are ignored after an invalid one.
func (k kind) fromTrainable() bool { return k >= started && k <= exported }
