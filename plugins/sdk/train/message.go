package train

import "github.com/tunehost/tunehost/plugins/sdk"

// CommandKind is a kind of command of the host.
type CommandKind uint8

// The commands, with the numbers of the protocol.
const (
	// Start begins a run; Trial is set.
	Start CommandKind = iota + 1
	// Continue grants Credits more results.
	Continue
	// Save requests the last result's state in the empty directory Dir. It is executed inside
	// Report: for the result that is being reported, else for the next one. Saved is the answer and
	// has the iteration.
	Save
	// Stop makes Report return [sdk.ErrStopped], or [sdk.ErrPaused] if Paused is set; Dir, if set,
	// is where to save first.
	Stop
	// Kill cancels the run's context: the grace time is over.
	Kill
)

// A Command is an order of the host to one run.
type Command struct {
	Kind    CommandKind
	Run     uint64 // chosen by the host, never used twice in a process
	Trial   *sdk.Trial
	Credits uint32
	Dir     string
	Paused  bool // Stop: the trial will continue later
	// Confirms says with Start that the host gives a credit for each recorded result, also for those that meet a
	// Stop, which then has those of the results that it answers.
	Confirms bool
}

// EventKind is a kind of event of a run.
type EventKind uint8

// The events, with the numbers of the protocol.
const (
	// Started: Train is about to be called, or an sdk.Launcher has started its program; PID is the
	// process that trains.
	Started EventKind = iota + 1
	// Result: Metrics, Values, Iteration, Checkpoint and Done are set.
	Result
	// Saved answers Save, or Stop with a Dir: Checkpoint is the directory, Iteration the saved
	// iteration. Error says why it failed.
	Saved
	// Ended is a run's last event. Error is empty on success.
	Ended
	// Log is a line (Text) for the trial's log.
	Log
	// Rejected is an invalid line (Text) of the trial's program, for its log.
	Rejected
	// Exported: the folder of Format in the trial's ExportDir holds the model. Error says why it
	// does not.
	Exported
)

// An Event is a message of one run.
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
	NeverStarted  bool // Ended: the program does not exist or is not executable
	Format        string
	Values        []byte // Result: a JSON object of the values that are not metrics
	Hint          bool   // Log: show the line to the user
	Waiting       bool   // Started: not yet, for lack of a resource; another Started follows
}
