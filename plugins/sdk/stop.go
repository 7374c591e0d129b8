package sdk

import "fmt"

// ErrPaused is [ErrStopped] for a trial that will go on later, where
// [Run.Report] knows it. errors.Is(err, ErrStopped) holds for both.
var ErrPaused = fmt.Errorf("%w for now: it is paused", ErrStopped)

// Stopper is implemented by Runs that can tell of a stop between reports.
// Trainables that do not reach Report for long listen to it; Stopped is closed
// when the trial was told to stop or pause, and stays open otherwise.
type Stopper interface {
	Stopped() <-chan struct{}
}

// Pauser is implemented by Runs that can tell, once Stopped is closed, whether
// the trial will go on later: what Report would say.
type Pauser interface {
	Paused() bool
}
