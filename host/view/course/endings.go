package course

import "github.com/tunehost/tunehost/core"

// End is the end of a trial.
type End struct {
	// At is the running time in nanoseconds.
	At    int64
	Trial core.TrialNo
	// Ended counts the ends so far.
	Ended int
}

// Endings has the ends of trials.
type Endings struct{ list []End }

func (e *Endings) end(no core.TrialNo, at int64) {
	e.list = append(e.list, End{at, no, len(e.list) + 1})
}

// Ends returns them, in order. A trial that was run again has several.
func (e *Endings) Ends() []End { return e.list }

func (e *Endings) bytes() int64 { return int64(cap(e.list)) * 24 }
