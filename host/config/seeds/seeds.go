// Package seeds derives all randomness of an experiment from its seed and from what the randomness is
// for. The order of requests does not matter.
package seeds

// A Purpose separates the random numbers of one use from those of another.
type Purpose uint64

// None of these may change: the record of every experiment depends on them.
const (
	Suggestion Purpose = iota + 1
	Trial
	Point
	Searcher
	Scheduler
	Reporter
	Lesson
	Exploit
)

// For derives a seed from the experiment's seed, the purpose and a number. It is SplitMix64 (Steele,
// Lea and Flood, 2014) over the three.
func For(seed uint64, use Purpose, n uint64) uint64 {
	return mix(mix(mix(seed)^uint64(use)) ^ n)
}

// Again derives another seed, for the next try.
func Again(seed, try uint64) uint64 { return mix(seed + try) }

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
