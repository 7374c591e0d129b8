package training

import (
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// maxFinal is how many results may come after the word to stop: a program that cleans up
// hands its last checkpoints over with them.
const maxFinal = 8

// Reports are what one attempt has reported, and how much it may. A trainable waits for
// the answer to each result: that is given once the result is recorded.
type Reports struct {
	reported  uint64 // results
	granted   uint64 // credits that the trainable has
	advanced  uint64 // those of them that are not the core's yet
	final     uint64 // results after the word to stop
	iteration uint64 // of the last result, or of the checkpoint it began from
}

// NewReports are those of an attempt that begins after an iteration.
func NewReports(iteration uint64) Reports { return Reports{iteration: iteration} }

// Reported is how many results there were.
func (r *Reports) Reported() uint64 { return r.reported }

// Grant takes credits for the attempt, and returns those that it does not have yet.
func (r *Reports) Grant(credits uint32) uint32 {
	early := min(r.advanced, uint64(credits))
	r.advanced -= early
	fresh := uint64(credits) - early
	r.granted += fresh
	return uint32(fresh)
}

// Advance gives a credit for a result in advance of the decision on it, and says whether
// the result had none.
func (r *Reports) Advance(result uint64) bool {
	if r.granted >= result {
		return false
	}
	r.granted++
	r.advanced++
	return true
}

// Stopping lets the attempt hand over its last checkpoints.
func (r *Reports) Stopping() { r.final = maxFinal }

// Take counts a result, or says what is wrong with it, beside those that came
// before.
func (r *Reports) Take(x *sdk.Result) error {
	if err := sdk.CheckResult(x); err != nil {
		return err
	}
	if err := r.follows(x.Iteration); err != nil {
		return err
	}
	return r.waits()
}

// follows checks that iterations grow. An attempt's first may be any: it may have
// gone on from a checkpoint or not.
func (r *Reports) follows(iteration uint64) error {
	if iteration == 0 {
		iteration = r.iteration + 1
	}
	if r.reported > 0 && iteration <= r.iteration {
		return fmt.Errorf("iteration %d after iteration %d", iteration, r.iteration)
	}
	r.reported++
	r.iteration = iteration
	return nil
}

// waits checks that a trainable waits for its answers (B-009): else what it reports
// would fill the memory.
func (r *Reports) waits() error {
	if most := r.granted + r.final + 1; r.reported > most {
		return fmt.Errorf("result %d, where it must wait for an answer after %d", r.reported, most)
	}
	return nil
}
