// Package seeds is where all randomness of an experiment comes from: of its seed,
// and of what is to be random, never of who asked first.
package seeds

// A Purpose keeps the random numbers of one use apart from those of another.
type Purpose uint64

// These are in the record of every experiment by what came of them: none may
// change.
const (
	Suggestion Purpose = iota + 1
	Trial
	Point
	Searcher
	Scheduler
	Reporter
	Lesson
)

// For derives the randomness of one thing from the experiment's seed, so that it
// depends on what the thing is. It is SplitMix64 (Steele, Lea and Flood, 2014) over
// the three numbers.
func For(seed uint64, use Purpose, n uint64) uint64 {
	return mix(mix(mix(seed)^uint64(use)) ^ n)
}

// Again is other randomness for the same thing, where the first would not do.
func Again(seed, try uint64) uint64 { return mix(seed + try) }

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
