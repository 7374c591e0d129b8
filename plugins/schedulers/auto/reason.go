package auto

import (
	"fmt"
	"strconv"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// reason returns why a trial is stopped at rung k: "early values at iteration 3 order final ones
// with ρ 0.82 over 14 trials (at least 0.74): stopped, as loss 0.6 is not among the best 8 of 34
// there (0.41 or better)".
func (s *scheduler) reason(e *sdk.Event, k int, known trust, best int, cut float64) string {
	value := s.objective.Text(s.objective.Loss(e))
	return fmt.Sprintf("early values at %s %s: stopped, as %s is not among the best %d of %d there (%s or better)",
		place(e, k), known, value, best, len(s.rungs[k].sorted), s.objective.Value(cut))
}

// place names the iteration of the result, and the rung where it counts if that is another one.
func place(e *sdk.Event, k int) string {
	if e.Iteration == at[k] {
		return fmt.Sprintf("iteration %d", at[k])
	}
	return fmt.Sprintf("iteration %d, which counts as %d,", e.Iteration, at[k])
}

func (t trust) String() string {
	if t.trials > few {
		return fmt.Sprintf("order final ones with ρ %.2f over %d trials (at least %.2f)", t.rho, t.trials, t.bound)
	}
	return fmt.Sprintf("are assumed to order final ones with ρ %.2f until %d trials that were there have trained to "+
		"their ends (%d so far)", t.bound, few+1, t.trials)
}

func (s *scheduler) finished() string {
	return "finished: max is " + strconv.FormatUint(s.options.Max, 10) + " iterations"
}
