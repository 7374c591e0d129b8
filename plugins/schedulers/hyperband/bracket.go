package hyperband

// plan is what a bracket begins with.
type plan struct {
	trials uint64
	at     []uint64 // milestones, rising to max
}

// band are the brackets of one round, the one that halves least first.
func band(most, factor uint64) []plan {
	powers := []uint64{1}
	for p := uint64(1); p <= most/factor; {
		p *= factor
		powers = append(powers, p)
	}
	plans := make([]plan, len(powers))
	for s := range plans {
		plans[s].trials = ceil(uint64(len(powers))*powers[s], uint64(s)+1)
		for _, p := range powers[:s+1] {
			plans[s].at = append([]uint64{most / p}, plans[s].at...)
		}
	}
	return plans
}

func ceil(a, b uint64) uint64 { return a/b + min(1, a%b) }

// bracket is a group of trials that halves together.
type bracket struct {
	plan
	stage   int       // index of the milestone that its trials are heading for
	joined  uint64    // trials that were ever in it
	entered uint64    // trials that set out for the milestone
	under   int       // of these, those on the way
	arrived []arrival // of these, those that reached it
}

type arrival struct {
	loss  float64
	trial uint32
}

func (b *bracket) milestone() uint64 { return b.at[b.stage] }

// open says whether a trial may still join.
func (b *bracket) open() bool { return b.stage == 0 && b.joined < b.trials }

func (b *bracket) join() {
	b.joined++
	b.entered++
	b.under++
}
