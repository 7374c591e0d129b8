package rung

// Ladder returns grace·factor^k up to max, computed with integers: logarithms would lose the top
// rung of (1, 1000, 10). grace is in 1..max, factor at least 2.
func Ladder(grace, max, factor uint64) []uint64 {
	at := []uint64{grace}
	for r := grace; r <= max/factor; {
		r *= factor
		at = append(at, r)
	}
	return at
}
