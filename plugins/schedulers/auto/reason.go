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
	return fmt.Sprintf("early values at iteration %d %s: stopped, as %s is not among the best %d of %d there "+
		"(%s or better)", at[k], known, value, best, len(s.rungs[k].sorted), s.objective.Value(cut))
}

func (t trust) String() string {
	if t.trials > few {
		return fmt.Sprintf("order final ones with ρ %.2f over %d trials (at least %.2f)", t.rho, t.trials, t.bound)
	}
	return fmt.Sprintf("are assumed to order final ones with ρ %.2f until %d trials from there have ended (%d so far)",
		t.bound, few+1, t.trials)
}

func (s *scheduler) finished() string {
	return "finished: max is " + strconv.FormatUint(s.options.Max, 10) + " iterations"
}
