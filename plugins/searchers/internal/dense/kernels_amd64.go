package dense

import "golang.org/x/sys/cpu"

// vectors reports whether the processor has instructions for four numbers at a time (AVX). They round like
// those for one number: each sum of four is computed in the same order, so the bits are the same.
var vectors = cpu.X86.HasAVX

// Vectors reports whether there are instructions for four numbers at a time, for kernels of other packages.
func Vectors() bool { return vectors }

//go:noescape
func sumsOfFour(sums *[4]lanes, x *float64, rows *[4]*float64, n int)

//go:noescape
func addToFour(b, xs *float64, rows *[4]*float64, n int)

//go:noescape
func dots(y *float64, rows *[]float64, count int, x *float64, n int)

// Dots sets y to the dot products of x and rows, which may be longer.
func Dots(y, x []float64, rows Matrix) {
	if !vectors || len(y) == 0 || len(x) == 0 {
		slowDots(y, x, rows)
		return
	}
	dots(&y[0], &rows[:len(y)][0], len(y), &x[0], len(x))
}

// pointers are the addresses of four rows, none of which is empty.
func pointers(rows Matrix) [4]*float64 {
	return [4]*float64{&rows[0][0], &rows[1][0], &rows[2][0], &rows[3][0]}
}

// fourSums is slowFourSums, a few times faster where the processor allows it.
func fourSums(sums *[4]lanes, x []float64, rows Matrix) {
	if !vectors || len(x) == 0 {
		slowFourSums(sums, x, rows)
		return
	}
	at := pointers(rows)
	sumsOfFour(sums, &x[0], &at, len(x))
}

// addFour is slowAddFour, a few times faster where the processor allows it.
func addFour(b, xs []float64, rows Matrix) {
	if !vectors || len(b) == 0 {
		slowAddFour(b, xs, rows)
		return
	}
	at := pointers(rows)
	addToFour(&b[0], &xs[0], &at, len(b))
}
