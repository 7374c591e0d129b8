package training

import (
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Reports are what one attempt has reported, and how much it may.
type Reports struct {
	reported  uint64 // results
	granted   uint64 // credits
	ahead     int    // how far it may run ahead of decisions
	iteration uint64 // of the last result, or of the checkpoint it began from
}

// NewReports are those of an attempt that begins after an iteration.
func NewReports(iteration uint64, ahead int) Reports {
	return Reports{iteration: iteration, ahead: ahead}
}

// Grant lets the attempt report more.
func (r *Reports) Grant(credits uint32) { r.granted += uint64(credits) }

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

// waits checks that a trainable runs ahead of decisions no further than it may
// (B-009): else what it reports would fill the memory.
func (r *Reports) waits() error {
	if most := r.granted + uint64(r.ahead) + 1; r.reported > most {
		return fmt.Errorf("result %d, where it must wait for a decision after %d", r.reported, most)
	}
	return nil
}
