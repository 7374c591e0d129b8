package dense

import "math"

//go:noescape
func addSquares(sums, centres *float64, n int, x float64)

//go:noescape
func subSquares(sums, centres, scales *float64, n int, x float64)

//go:noescape
func addWhere(sums, centres *float64, n int, x, y float64, flip uint64)

// fours returns how many numbers of n are processed four at a time; the first one exists if there are any.
func fours(n int) int {
	if !vectors {
		return 0
	}
	return n &^ 3
}

// addSquaresOfFour is AddSquares for the first n numbers.
func addSquaresOfFour(sums []float64, x float64, centres []float64) (n int) {
	if n = fours(len(sums)); n > 0 {
		addSquares(&sums[0], &centres[:n][0], n, x)
	}
	return n
}

// subSquaresOfFour is SubSquares for the first n numbers.
func subSquaresOfFour(sums []float64, x float64, centres, scales []float64) (n int) {
	if n = fours(len(sums)); n > 0 {
		subSquares(&sums[0], &centres[:n][0], &scales[:n][0], n, x)
	}
	return n
}

// addWhereOfFour is AddWhere for the first n numbers.
func addWhereOfFour(sums []float64, x float64, centres []float64, equal bool, y float64) (n int) {
	flip := uint64(math.MaxUint64)
	if equal {
		flip = 0
	}
	if n = fours(len(sums)); n > 0 {
		addWhere(&sums[0], &centres[:n][0], n, x, y, flip)
	}
	return n
}
