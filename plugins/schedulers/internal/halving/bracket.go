package halving

// A Plan is the initial state of a bracket.
type Plan struct {
	Trials uint64
	At     []uint64 // milestones, increasing to max
}

// Milestones returns those of the bracket that halves that many times: ⌊max/factor^k⌋, in
// increasing order.
func Milestones(most, factor uint64, halvings int) []uint64 {
	at := make([]uint64, halvings+1)
	for k, p := halvings, uint64(1); k >= 0; k, p = k-1, p*factor {
		at[k] = most / p
	}
	return at
}

// Ceil returns a/b, rounded up.
func Ceil(a, b uint64) uint64 { return a/b + min(1, a%b) }

// A bracket is a group of trials that halves together.
type bracket struct {
	Plan
	stage   int       // index of the milestone that its trials train towards
	joined  uint64    // trials that joined so far
	entered uint64    // trials that started towards the milestone
	under   int       // of these, the ones on the way
	arrived []arrival // of these, the ones that reached it
}

type arrival struct {
	loss  float64
	trial uint32
}

func (b *bracket) milestone() uint64 { return b.At[b.stage] }

// open reports whether a trial may still join.
func (b *bracket) open() bool { return b.stage == 0 && b.joined < b.Trials }

func (b *bracket) join() {
	b.joined++
	b.entered++
	b.under++
}
