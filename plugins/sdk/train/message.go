package train

import "github.com/tunehost/tunehost/plugins/sdk"

// CommandKind is what the host orders.
type CommandKind uint8

// The commands; their numbers are those of the protocol.
const (
	// Start begins a run; Trial is set.
	Start CommandKind = iota + 1
	// Continue grants Credits more results.
	Continue
	// Save asks for the last result's state in the empty directory Dir. It
	// is carried out inside Report: of the result that is being reported,
	// else of the next one. Saved answers it and names the iteration.
	Save
	// Stop makes Report return [sdk.ErrStopped], or [sdk.ErrPaused] where
	// Paused is set; Dir, if set, is where to save first.
	Stop
	// Kill ends the run's context: the grace is over.
	Kill
)

// Command is what the host tells one run.
type Command struct {
	Kind    CommandKind
	Run     uint64 // chosen by the host, never used twice in a process
	Trial   *sdk.Trial
	Credits uint32
	Dir     string
	Paused  bool // Stop: the trial will go on later
}

// EventKind is what a run says.
type EventKind uint8

// The events; their numbers are those of the protocol.
const (
	// Started: Train is about to be called, or an sdk.Launcher has started its program;
	// PID is the process that trains.
	Started EventKind = iota + 1
	// Result: Metrics, Values, Iteration, Checkpoint and Done are set.
	Result
	// Saved answers Save, or Stop with a Dir: Checkpoint is the directory,
	// Iteration what was saved. Error says why it failed.
	Saved
	// Ended is a run's last event. Error is empty when all is well.
	Ended
	// Log is a line (Text) for the trial's log.
	Log
	// Rejected is garbage (Text) of the trial's program, for its log.
	Rejected
	// Exported: the folder of Format in the trial's ExportDir holds the model.
	// Error says why it does not.
	Exported
)

// Event is what one run says.
type Event struct {
	Kind          EventKind
	Run           uint64
	PID           uint32
	Metrics       []sdk.Metric
	Iteration     uint64
	Checkpoint    string
	Done          bool
	Error         string
	Text          string
	RestoreFailed bool // Ended: the checkpoint could not be loaded
	NeverStarted  bool // Ended: no program, not executable
	Format        string
	Values        []byte // Result: a JSON object of what is no metric
	Hint          bool   // Log: the user sees it
	Waiting       bool   // Started: not yet, for want of something; another Started follows
}
