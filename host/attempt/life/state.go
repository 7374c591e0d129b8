package life

// State is the state of an attempt.
type State uint8

// States.
const (
	// Preparing waits for its directory, and for a copy of the checkpoint that it continues from.
	Preparing State = iota + 1
	// Launching waits for a process.
	Launching
	// Canceled was told to stop before it had a process. It ends when the step that is under way
	// is done: making its directory, or starting its process.
	Canceled
	// Starting has told its process to start it.
	Starting
	// Waiting has a process that cannot start it yet.
	Waiting
	// Running has begun to train.
	Running
	// Stopping was told to stop and has a grace to do so.
	Stopping
	// Killing has used up its grace: its process was told to kill it.
	Killing
	// Overdue has a process that kills programs itself, and that has a last moment to report
	// that it did.
	Overdue
	// Abandoned did not begin in time in a shared process. It ends without the others.
	Abandoned
	// Dying waits for the end of its process, which was killed.
	Dying
	// Exporting has left its process, and its models are being made.
	Exporting
	// Ended is over, and the core knows it.
	Ended

	states = int(Ended) + 1
)

var stateNames = [states]string{"", "Preparing", "Launching", "Canceled", "Starting", "Waiting", "Running", "Stopping",
	"Killing", "Overdue", "Abandoned", "Dying", "Exporting", "Ended"}

// String is the state's name.
func (s State) String() string { return stateNames[s] }

// placed reports whether an attempt in this state has a process.
func (s State) placed() bool { return s >= Starting && s <= Dying }

const over = 1<<Exporting | 1<<Ended

// moves is the transition table: moves[from] has a bit for each state that may follow. Any other
// move is a bug and panics.
var moves = [states]uint16{
	0:         1 << Preparing,
	Preparing: 1<<Launching | 1<<Canceled | over,
	Launching: 1<<Starting | 1<<Canceled | over,
	Canceled:  1<<Stopping | over,
	Starting:  1<<Launching | 1<<Waiting | 1<<Running | 1<<Stopping | 1<<Abandoned | 1<<Dying | over,
	Waiting:   1<<Launching | 1<<Running | 1<<Stopping | 1<<Dying | over,
	Running:   1<<Launching | 1<<Stopping | 1<<Dying | over,
	Stopping:  1<<Killing | 1<<Dying | over,
	Killing:   1<<Overdue | 1<<Dying | over,
	Overdue:   1<<Dying | over,
	Abandoned: 1<<Killing | 1<<Dying | over,
	Dying:     over,
	Exporting: 1 << Ended,
}
