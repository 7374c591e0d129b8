//go:build !amd64

package dense

// AddSquares adds the squared distance of x from each centre.
func AddSquares(sums []float64, x float64, centres []float64) { slowAddSquares(sums, x, centres) }

// SubSquares subtracts the squared distance of x from each centre, multiplied by its scale before it is squared.
func SubSquares(sums []float64, x float64, centres, scales []float64) {
	slowSubSquares(sums, x, centres, scales)
}

// AddWhere adds y where the centre is x, or, unless equal, where it is another number. NaN is another number.
func AddWhere(sums []float64, x float64, centres []float64, equal bool, y float64) {
	slowAddWhere(sums, x, centres, equal, y)
}
