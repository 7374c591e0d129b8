package dense

import "math"

//go:noescape
func addSquares(sums, centres *float64, n int, x float64)

//go:noescape
func subSquares(sums, centres, scales *float64, n int, x float64)

//go:noescape
func addWhere(sums, centres *float64, n int, x, y float64, flip uint64)

// AddSquares adds the squared distance of x from each centre.
func AddSquares(sums []float64, x float64, centres []float64) {
	n := len(sums)
	if !vectors || n == 0 {
		slowAddSquares(sums, x, centres)
		return
	}
	addSquares(&sums[0], &centres[:n][0], n, x)
}

// SubSquares subtracts the squared distance of x from each centre, multiplied by its scale before it is squared.
func SubSquares(sums []float64, x float64, centres, scales []float64) {
	n := len(sums)
	if !vectors || n == 0 {
		slowSubSquares(sums, x, centres, scales)
		return
	}
	subSquares(&sums[0], &centres[:n][0], &scales[:n][0], n, x)
}

// AddWhere adds y where the centre is x, or, unless equal, where it is another number. NaN is another number.
func AddWhere(sums []float64, x float64, centres []float64, equal bool, y float64) {
	n := len(sums)
	if !vectors || n == 0 {
		slowAddWhere(sums, x, centres, equal, y)
		return
	}
	flip := uint64(math.MaxUint64)
	if equal {
		flip = 0
	}
	addWhere(&sums[0], &centres[:n][0], n, x, y, flip)
}
