package sdk

import "fmt"

// A StartError fails a trial that could not begin to train: the program does not exist or is not
// executable. The host does not retry it and says so (B-074).
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// A RestoreError fails a trial whose checkpoint (Trial.Restore) could not be loaded. The host may
// retry once without it (B-057).
type RestoreError struct{ Err error }

func (e *RestoreError) Error() string { return "cannot restore the checkpoint: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *RestoreError) Unwrap() error { return e.Err }

// Unsaved is the text for the host when it wants a checkpoint of a result that was reported without save.
func Unsaved(iteration uint64) string {
	return fmt.Sprintf("the result of iteration %d was reported without save, and a checkpoint of it is wanted: "+
		"give save with each report", iteration)
}

// Hinter is implemented by every [Run]. Trainables that read the output of a user's program call it
// to report a probable mistake of the program, in one line. The user sees each text once,
// immediately.
type Hinter interface {
	Hint(text string)
}

// Rejecter is implemented by every [Run]. Trainables that read reports of a user's program pass it
// the lines that are not reports, for the trial's log.
type Rejecter interface {
	// Reject logs text as refused. It is not a result.
	Reject(text string)
}
