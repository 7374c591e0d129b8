package sdk

// StartError fails a trial that never began to train: no such program, not
// executable. Retrying does not help, and the host says so (B-074).
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// RestoreError fails a trial whose checkpoint (Trial.Restore) could not be
// loaded. The host may try once more without it (B-057).
type RestoreError struct{ Err error }

func (e *RestoreError) Error() string { return "cannot restore the checkpoint: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *RestoreError) Unwrap() error { return e.Err }

// Hinter is implemented by every [Run]: trainables that read what a program of the
// user's says hand it what is probably wrong with that, in one line. The user sees it
// at once, each text once.
type Hinter interface {
	Hint(text string)
}

// Rejecter is implemented by every [Run]: trainables that read reports of a
// program of the user's hand what is no report to it, for the trial's log.
type Rejecter interface {
	// Reject notes text as refused; it is no result and never will be one.
	Reject(text string)
}
