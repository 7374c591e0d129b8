package halving

// Plan is what a bracket begins with.
type Plan struct {
	Trials uint64
	At     []uint64 // milestones, rising to max
}

// Milestones are those of the bracket that halves so many times: ⌊max/factor^k⌋,
// rising.
func Milestones(most, factor uint64, halvings int) []uint64 {
	at := make([]uint64, halvings+1)
	for k, p := halvings, uint64(1); k >= 0; k, p = k-1, p*factor {
		at[k] = most / p
	}
	return at
}

// Ceil is a/b, rounded up.
func Ceil(a, b uint64) uint64 { return a/b + min(1, a%b) }

// bracket is a group of trials that halves together.
type bracket struct {
	Plan
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

func (b *bracket) milestone() uint64 { return b.At[b.stage] }

// open says whether a trial may still join.
func (b *bracket) open() bool { return b.stage == 0 && b.joined < b.Trials }

func (b *bracket) join() {
	b.joined++
	b.entered++
	b.under++
}
