package rung

// Ladder has grace·factor^k up to max, in whole numbers: with logarithms the top
// rung of (1, 1000, 10) would be lost. grace is in 1..max, factor at least 2.
func Ladder(grace, max, factor uint64) []uint64 {
	at := []uint64{grace}
	for r := grace; r <= max/factor; {
		r *= factor
		at = append(at, r)
	}
	return at
}
