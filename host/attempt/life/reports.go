package life

import (
	"fmt"
	"math"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// MaxFinal is how many results may follow the order to stop: a program that cleans up reports its
// last checkpoints with them.
const MaxFinal = 8

// Reports counts the results of an attempt, and how many more it may report. A trainable waits for
// the answer to each result, which it gets once the result is recorded.
type Reports struct {
	reported  uint64 // results
	granted   uint64 // credits that the trainable has
	advanced  uint64 // credits among them that the core has not given yet
	recorded  uint64 // results that are in the record
	final     uint64 // results that may follow the order to stop
	iteration uint64 // of the last result, or of the checkpoint it began from
}

// NewReports returns the Reports of an attempt that begins after an iteration.
func NewReports(iteration uint64) Reports { return Reports{iteration: iteration} }

// Reported returns the number of results.
func (r *Reports) Reported() uint64 { return r.reported }

// Grant adds credits of the core, and returns those that the attempt does not have yet.
func (r *Reports) Grant(credits uint32) uint32 {
	early := min(r.advanced, uint64(credits))
	r.advanced -= early
	fresh := uint64(credits) - early
	r.granted += fresh
	return uint32(fresh)
}

// Decided reports whether a result has its credit.
func (r *Reports) Decided(result uint64) bool { return r.granted >= result }

// Advance gives a credit for a result before the decision on it. It returns false if the result
// already had one.
func (r *Reports) Advance(result uint64) bool {
	if r.Decided(result) {
		return false
	}
	r.granted++
	r.advanced++
	return true
}

// Recorded counts a result that is in the record.
func (r *Reports) Recorded() { r.recorded++ }

// Confirm gives the credits of the recorded results that have none. The core gives none to an attempt that was told to
// stop, and it takes that for the answer only to results with credits.
func (r *Reports) Confirm() uint32 {
	n := max(r.recorded, r.granted) - r.granted
	r.granted += n
	return uint32(min(n, math.MaxUint32))
}

// Stopping allows the last results of an attempt that was told to stop.
func (r *Reports) Stopping() { r.final = MaxFinal }

// Take counts a result. The error says why the result cannot follow the results before it.
func (r *Reports) Take(x *sdk.Result) error {
	if err := sdk.CheckResult(x); err != nil {
		return err
	}
	if err := r.follows(x.Iteration); err != nil {
		return err
	}
	return r.waits()
}

// follows checks that iterations grow. The first iteration of an attempt may have any value, since
// the attempt may or may not have continued from a checkpoint.
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

// waits checks that a trainable waits for its answers (B-009), so that its results do not fill the
// memory.
func (r *Reports) waits() error {
	if most := r.granted + r.final + 1; r.reported > most {
		return fmt.Errorf("result %d, where it must wait for an answer after %d", r.reported, most)
	}
	return nil
}

// Iteration returns the iteration of the last result, or the one after which the attempt began.
func (r *Reports) Iteration() uint64 { return r.iteration }
