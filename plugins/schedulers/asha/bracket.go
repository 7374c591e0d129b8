package asha

import "github.com/tunehost/tunehost/plugins/schedulers/internal/rung"

// A bracket is one ladder of rungs.
type bracket struct {
	// at are the rungs' iterations, in increasing order. The last may be max.
	at    []uint64
	rungs []rung.Rung
	// weight is the bracket's share of the trials.
	weight float64
}

func rungs(o options) []uint64 { return rung.Ladder(o.Grace, o.Max, o.Factor) }

func makeBrackets(o options) []bracket {
	at := rungs(o)
	floor := 1
	if o.Type == promotion {
		floor = 0
	}
	all := make([]bracket, o.Brackets)
	for s := range all {
		all[s] = makeBracket(at[s:], o.Factor, floor)
	}
	return all
}

// makeBracket weighs the bracket as Hyperband does: one with k rungs gets factor^(k-1)/k trials, so
// that all brackets train about equally long.
func makeBracket(at []uint64, factor uint64, floor int) bracket {
	b := bracket{at: at, rungs: make([]rung.Rung, len(at)), weight: 1 / float64(len(at))}
	for i := range b.rungs {
		b.rungs[i] = rung.New(int(factor), floor)
		if i > 0 {
			b.weight *= float64(factor)
		}
	}
	return b
}

// draw picks the trial's bracket by the seed and the trial's number.
func draw(brackets []bracket, seed uint64, trial uint32) uint8 {
	if len(brackets) == 1 {
		return 0
	}
	total := 0.0
	for _, b := range brackets {
		total += b.weight
	}
	u := float64(float64(mix(seed+uint64(trial)*0x9e3779b97f4a7c15)>>11) / (1 << 53) * total)
	for i, b := range brackets[:len(brackets)-1] {
		if u -= b.weight; u < 0 {
			return uint8(i)
		}
	}
	return uint8(len(brackets) - 1)
}

// mix is SplitMix64's finaliser (Steele, Lea, Flood 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
