package host

// A purpose keeps the random numbers of one use apart from those of another.
type purpose uint64

const (
	forSuggestion purpose = iota + 1
	forTrial
	forPoint
	forSearcher
	forScheduler
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

const idAlphabet = "0123456789abcdefghijkmnpqrstuvwx"

// trialID is the name of a trial in files: seven letters and digits that tell
// trials of several experiments apart. It is a permutation of the number under
// the seed, so that two trials of one experiment never share it.
func trialID(seed uint64, number uint32) string {
	x := number ^ uint32(mix(seed))
	x ^= x >> 16
	x *= 0x7feb352d // odd: a permutation, as every step here is
	x ^= x >> 15
	x *= 0x846ca68b
	x ^= x >> 16
	var id [7]byte
	for i := range id {
		id[i] = idAlphabet[x&31]
		x >>= 5
	}
	return string(id[:])
}
