package sdk

import "fmt"

// ErrPaused is the [ErrStopped] of a trial that will continue later, if [Run.Report] knows this.
// errors.Is(err, ErrStopped) is true for both.
var ErrPaused = fmt.Errorf("%w for now: it is paused", ErrStopped)

// ErrKilled is the [ErrStopped] of a trial that nobody has told to stop: its host is gone, or has killed it. The last
// result may be missing in the record, so nothing that the trial writes from now on is final.
// errors.Is(err, ErrStopped) is true for it, too.
var ErrKilled = fmt.Errorf("%w: it was killed, or its host is gone", ErrStopped)

// Stopper is implemented by Runs that can signal a stop between reports. Trainables that do not
// call Report for a long time use it; Stopped is closed when the trial was told to stop or pause.
type Stopper interface {
	Stopped() <-chan struct{}
}

// Confirmer is implemented by Runs that know whether results are in the record, also the last one, for which Report
// does not wait. Recorded waits until all results so far are; it returns [ErrKilled] if they may not be.
type Confirmer interface {
	Recorded() error
}

// Pauser is implemented by Runs that know, after Stopped is closed, whether the trial will continue
// later, as the error of Report would say.
type Pauser interface {
	Paused() bool
}
