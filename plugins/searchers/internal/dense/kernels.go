package dense

// A lanes is the four partial sums of a dot product: of each fourth product, from the first, second, third and
// fourth on.
type lanes [4]float64

// sum returns the dot product.
func (s *lanes) sum() float64 { return (s[0] + s[1]) + (s[2] + s[3]) }

// upTo adds the products of the last elements of x, from number n on, which are at most four: four belong to the four
// sums, fewer to the first.
func (s *lanes) upTo(n int, x, row []float64) {
	if len(x)-n == len(s) {
		for i := range s {
			s[i] += float64(x[n+i] * row[n+i])
		}
		return
	}
	for i := n; i < len(x); i++ {
		s[0] += float64(x[i] * row[i])
	}
}

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

// slowFourSums returns the partial sums of x, whose length is a multiple of four, with each of four rows, which may be
// longer.
func slowFourSums(x []float64, rows Matrix) (sums [4]lanes) {
	for i := range sums {
		sums[i] = partial(x, rows[i])
	}
	return sums
}

// slowAddFour adds xs times four rows, one after the other, to b from number n on, and reads and writes b once. The
// rows may be longer.
func slowAddFour(b, xs []float64, rows Matrix, n int) {
	x0, x1, x2, x3 := xs[0], xs[1], xs[2], xs[3]
	a0, a1, a2, a3 := rows[0][:len(b)], rows[1][:len(b)], rows[2][:len(b)], rows[3][:len(b)]
	for i := n; i < len(b); i++ {
		y := b[i]
		y += float64(x0 * a0[i])
		y += float64(x1 * a1[i])
		y += float64(x2 * a2[i])
		b[i] = y + float64(x3*a3[i])
	}
}
