package dense

// The functions of this file change the sums of many points at a time, feature by feature: point i has the coordinate
// centres[i]. All slices of a call have as many elements as sums, or more.

// AddSquares adds the squared distance of x from each centre.
func AddSquares(sums []float64, x float64, centres []float64) {
	slowAddSquares(sums, x, centres, addSquaresOfFour(sums, x, centres))
}

// SubSquares subtracts the squared distance of x from each centre, multiplied by its scale before it is squared.
func SubSquares(sums []float64, x float64, centres, scales []float64) {
	slowSubSquares(sums, x, centres, scales, subSquaresOfFour(sums, x, centres, scales))
}

// AddWhere adds y where the centre is x, or, unless equal, where it is another number. NaN is another number.
func AddWhere(sums []float64, x float64, centres []float64, equal bool, y float64) {
	slowAddWhere(sums, x, centres, equal, y, addWhereOfFour(sums, x, centres, equal, y))
}

// slowAddSquares is AddSquares from number n on.
func slowAddSquares(sums []float64, x float64, centres []float64, n int) {
	centres = centres[:len(sums)]
	for i := n; i < len(sums); i++ {
		d := x - centres[i]
		sums[i] += float64(d * d)
	}
}

// slowSubSquares is SubSquares from number n on.
func slowSubSquares(sums []float64, x float64, centres, scales []float64, n int) {
	centres, scales = centres[:len(sums)], scales[:len(sums)]
	for i := n; i < len(sums); i++ {
		d := (x - centres[i]) * scales[i]
		sums[i] -= float64(d * d)
	}
}

// slowAddWhere is AddWhere from number n on.
func slowAddWhere(sums []float64, x float64, centres []float64, equal bool, y float64, n int) {
	centres = centres[:len(sums)]
	for i := n; i < len(sums); i++ {
		if (centres[i] == x) == equal {
			sums[i] += y
		}
	}
}
