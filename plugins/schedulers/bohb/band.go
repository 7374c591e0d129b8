package bohb

import "github.com/tunehost/tunehost/plugins/schedulers/internal/halving"

// band returns the brackets of one round, starting with the one that halves most often.
func band(most, least, factor uint64) []halving.Plan {
	powers := []uint64{1}
	for p := uint64(1); p <= most/least/factor; {
		p *= factor
		powers = append(powers, p)
	}
	plans := make([]halving.Plan, len(powers))
	for i := range plans {
		s := len(powers) - 1 - i
		plans[i].Trials = uint64(len(powers)/(s+1)) * powers[s]
		plans[i].At = halving.Milestones(most, factor, s)
	}
	return plans
}
