package host

// A purpose keeps the random numbers of one use apart from those of another.
type purpose uint64

const (
	forSuggestion purpose = iota + 1
	forTrial
	forPoint
	forSearcher
	forScheduler
	forReporter
	forLesson
)

// seedFor derives the randomness of one thing from the experiment's seed, so
// that it depends on what the thing is and never on who asked first. It is
// SplitMix64 (Steele, Lea and Flood, 2014) over the three numbers.
func seedFor(seed uint64, use purpose, n uint64) uint64 {
	return mix(mix(mix(seed)^uint64(use)) ^ n)
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
