package terminal

import (
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/report"
)

// Source knows how the experiment stands. It is asked by more than one
// goroutine, a few times a second, and must answer at once: no walk over all
// trials, no waiting.
type Source interface {
	// Status is where the experiment stands. Counts has every trial.
	Status() report.Status
	// Rows returns at most perState trials of each state: of those that run
	// the ones that were started first, of those that wait the next, of the
	// others the last to get there.
	Rows(perState int) []Row
}

// Row is one trial in the table.
type Row struct {
	Number    core.TrialNo
	State     core.State
	Params    []byte // a JSON object, nested as in the experiment file
	Iteration uint64
	// Value is the last of the objective's metric, where Reported.
	Value    float64
	Reported bool
	// Time is the training time over all attempts.
	Time time.Duration
}
