package hyperband

import "github.com/tunehost/tunehost/plugins/schedulers/internal/halving"

// band returns the brackets of one round, starting with the one that halves least often.
func band(most, factor uint64) []halving.Plan {
	powers := []uint64{1}
	for p := uint64(1); p <= most/factor; {
		p *= factor
		powers = append(powers, p)
	}
	plans := make([]halving.Plan, len(powers))
	for s := range plans {
		plans[s].Trials = halving.Ceil(uint64(len(powers))*powers[s], uint64(s)+1)
		plans[s].At = halving.Milestones(most, factor, s)
	}
	return plans
}
