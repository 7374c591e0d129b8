package dense

import "golang.org/x/sys/cpu"

// vectors reports whether the processor has instructions for four numbers at a time (AVX). They round like
// those for one number: each sum of four is computed in the same order, so the bits are the same.
var vectors = cpu.X86.HasAVX

//go:noescape
func sumsOfFour(sums *[16]float64, x *float64, rows *[4]*float64, n int)

//go:noescape
func addToFour(b, xs *float64, rows *[4]*float64, n int)

// pointers are the addresses of four rows, none of which is empty.
func pointers(rows Matrix) [4]*float64 {
	return [4]*float64{&rows[0][0], &rows[1][0], &rows[2][0], &rows[3][0]}
}

// fourSums is slowFourSums, a few times faster where the processor allows it.
func fourSums(x []float64, rows Matrix) (sums [4]lanes) {
	if !vectors || len(x) == 0 {
		return slowFourSums(x, rows)
	}
	at := pointers(rows)
	var all [16]float64
	sumsOfFour(&all, &x[0], &at, len(x))
	for i := range sums {
		sums[i] = lanes(all[4*i:])
	}
	return sums
}

// addFour is slowAddFour, a few times faster where the processor allows it.
func addFour(b, xs []float64, rows Matrix) {
	n := 0
	if vectors && len(b) >= 4 {
		n = len(b) &^ 3
		at := pointers(rows)
		addToFour(&b[0], &xs[0], &at, n)
	}
	slowAddFour(b, xs, rows, n)
}
