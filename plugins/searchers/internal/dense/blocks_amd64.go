package dense

//go:noescape
func eliminateBlock(rows, above *[4]*float64, j int)

//go:noescape
func addToPair(b, c, xs, ys *float64, rows *[4]*float64, n int)

//go:noescape
func divide(x *float64, n int, by float64)

// eliminate is slowEliminate, a few times faster for four rows where the processor allows it.
func eliminate(rows, a Matrix, j int) {
	if !vectors || len(rows) != 4 {
		slowEliminate(rows, a, j)
		return
	}
	for k := range 4 {
		_, _ = rows[k][j+3], a[j+k][j+k]
	}
	these, above := pointers(rows), pointers(a[j:])
	eliminateBlock(&these, &above, j)
}

// addFourToPair is slowAddFourToPair, faster where the processor allows it.
func addFourToPair(b, c, xs, ys []float64, rows Matrix) {
	if !vectors || len(b) == 0 {
		slowAddFourToPair(b, c, xs, ys, rows)
		return
	}
	at := pointers(rows)
	addToPair(&b[0], &c[:len(b)][0], &xs[:4][0], &ys[:4][0], &at, len(b))
}

// divideAll is slowDivide, a few times faster where the processor allows it. To divide by a negative number is to
// negate and divide.
func divideAll(x []float64, by float64) {
	n := 0
	if vectors && len(x) >= 4 {
		n = len(x) &^ 3
		divide(&x[0], n, by)
	}
	slowDivide(x[n:], by)
}
