package auto

const (
	// spareFirst trials are always spared, so that even a small experiment stops by what it has seen. A share of the
	// others is, too, which halves after spareHalf trials, is a third after twice as many, and so on: the number of the
	// spared grows with the logarithm of the number of all.
	spareFirst = 6
	spareShare = 0.1
	spareHalf  = 25
)

// spared reports whether the trial trains to its end whatever its values are. It depends only on
// the seed and the trial's number.
func spared(seed uint64, trial uint32) bool {
	share := spareShare / (1 + float64(trial)/spareHalf)
	return trial < spareFirst || float64(mix(seed^mix(uint64(trial)))>>11)/(1<<53) < share
}

// mix is SplitMix64's finaliser (Steele, Lea, Flood 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
