package dense

// The functions below change the sums of many points at a time, feature by feature: point i has the coordinate
// centres[i]. All slices of a call have as many elements as sums, or more.

// slowAddSquares is AddSquares.
func slowAddSquares(sums []float64, x float64, centres []float64) {
	centres = centres[:len(sums)]
	for i := range sums {
		d := x - centres[i]
		sums[i] += float64(d * d)
	}
}

// slowSubSquares is SubSquares.
func slowSubSquares(sums []float64, x float64, centres, scales []float64) {
	centres, scales = centres[:len(sums)], scales[:len(sums)]
	for i := range sums {
		d := (x - centres[i]) * scales[i]
		sums[i] -= float64(d * d)
	}
}

// slowAddWhere is AddWhere.
func slowAddWhere(sums []float64, x float64, centres []float64, equal bool, y float64) {
	centres = centres[:len(sums)]
	for i := range sums {
		if (centres[i] == x) == equal {
			sums[i] += y
		}
	}
}
