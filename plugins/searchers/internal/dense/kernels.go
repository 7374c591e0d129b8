package dense

// A lanes is the four partial sums of a dot product: of each fourth product, from the first, second, third and
// fourth on.
type lanes [4]float64

// sum returns the dot product.
func (s *lanes) sum() float64 { return (s[0] + s[1]) + (s[2] + s[3]) }

// partial returns the sums of the products of x, whose length is a multiple of four, with the first elements of row.
func partial(x, row []float64) lanes {
	var s0, s1, s2, s3 float64 // an array would be in memory, which takes twice as long
	row = row[:len(x)]
	for len(x) >= 4 && len(row) >= 4 {
		s0 += float64(x[0] * row[0])
		s1 += float64(x[1] * row[1])
		s2 += float64(x[2] * row[2])
		s3 += float64(x[3] * row[3])
		x, row = x[4:], row[4:]
	}
	return lanes{s0, s1, s2, s3}
}

// slowDots is Dots.
func slowDots(y, x []float64, rows Matrix) {
	for i := range y {
		y[i] = Dot(x, rows[i])
	}
}

// slowFourSums sets the partial sums of x, whose length is a multiple of four, with each of four rows, which may be
// longer.
func slowFourSums(sums *[4]lanes, x []float64, rows Matrix) {
	for i := range sums {
		sums[i] = partial(x, rows[i])
	}
}

// slowAddFour adds xs times four rows, one after the other, to b, and reads and writes b once. The rows may be
// longer.
func slowAddFour(b, xs []float64, rows Matrix) {
	x0, x1, x2, x3 := xs[0], xs[1], xs[2], xs[3]
	a0, a1, a2, a3 := rows[0][:len(b)], rows[1][:len(b)], rows[2][:len(b)], rows[3][:len(b)]
	for i, y := range b {
		y += float64(x0 * a0[i])
		y += float64(x1 * a1[i])
		y += float64(x2 * a2[i])
		b[i] = y + float64(x3*a3[i])
	}
}

// slowEliminate is eliminateFour for each of some rows.
func slowEliminate(rows, a Matrix, j int) {
	for _, row := range rows {
		eliminateFour(row, a, j)
	}
}

// slowAddFourToPair is slowAddFour for b and xs, and for c and ys. They have the same length.
func slowAddFourToPair(b, c, xs, ys []float64, rows Matrix) {
	addFour(b, xs, rows)
	addFour(c, ys, rows)
}

// slowDivide divides all numbers.
func slowDivide(x []float64, by float64) {
	for i := range x {
		x[i] /= by
	}
}
