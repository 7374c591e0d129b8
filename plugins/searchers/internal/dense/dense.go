// Package dense has the linear algebra that searchers need, with the same bits on every machine:
// the order of sums is fixed, and each product is rounded by an explicit conversion, so that
// compilers cannot fuse it with a sum. gonum is not used because its kernels are in assembly on
// some machines, with another order of sums: its dot product of 33 numbers has different bits on
// amd64 and in WebAssembly.
//
// Matrices are slices of rows. Symmetric and lower triangular ones use only the elements left of
// the diagonal and on it; the others may have any value. Lengths must match; they are not checked.
package dense

import "math"

// A Matrix is a slice of rows.
type Matrix [][]float64

// New returns a matrix of zeros.
func New(rows, columns int) Matrix {
	m, cells := make(Matrix, rows), make([]float64, rows*columns)
	for i := range m {
		m[i] = cells[i*columns : (i+1)*columns : (i+1)*columns]
	}
	return m
}

// Identity returns the unit matrix.
func Identity(n int) Matrix {
	m := New(n, n)
	for i := range m {
		m[i][i] = 1
	}
	return m
}

// Dot returns the dot product of a and b; b may be longer. It has the loop of partial once more: with a call, short
// vectors would take twice as long.
func Dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		s0 += float64(a[0] * b[0])
		s1 += float64(a[1] * b[1])
		s2 += float64(a[2] * b[2])
		s3 += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		s0 += float64(x * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// Add adds x times a to b, which may be longer.
func Add(b []float64, x float64, a []float64) {
	b = b[:len(a)]
	for i, y := range a {
		b[i] += float64(x * y)
	}
}

// group is how many rows are computed together: each needs the same ones before, which then stay close to the
// processor.
const group = 4

// Cholesky replaces the symmetric a by the lower triangular l with l·lᵀ = a, from row from on: those before it are
// done. It returns false if a is not positive definite.
func Cholesky(a Matrix, from int) bool {
	for i := from; i < len(a); i += group {
		rows, j := a[i:min(i+group, len(a))], 0
		for ; j+4 <= i; j += 4 {
			eliminate(rows, a, j)
		}
		for k := range rows {
			if !choleskyRow(a, i+k, j) {
				return false
			}
		}
	}
	return true
}

// choleskyRow computes row i from column j on, a multiple of four; the rows before it must be done.
func choleskyRow(a Matrix, i, j int) bool {
	row := a[i]
	for ; j+4 <= i; j += 4 {
		eliminateFour(row, a, j)
	}
	for ; j < i; j++ {
		row[j] = (row[j] - Dot(row[:j], a[j])) / a[j][j]
	}
	rest := row[i] - Dot(row[:i], row)
	if !(rest > 0) || math.IsInf(rest, 1) {
		return false
	}
	row[i] = math.Sqrt(rest)
	return true
}

// eliminateFour computes four columns of a row, from column j on, a multiple of four; rows j to j+3 of a must be done.
// Fewer than four products belong to the first sum. There are no loops, which would take as long as the rest.
func eliminateFour(row []float64, a Matrix, j int) {
	var s [4]lanes
	fourSums(&s, row[:j], a[j:])
	x := row[j : j+4]
	a0, a1, a2, a3 := a[j][j:j+1], a[j+1][j:j+2], a[j+2][j:j+3], a[j+3][j:j+4]
	x0 := (x[0] - s[0].sum()) / a0[0]
	s[1][0] += float64(x0 * a1[0])
	x1 := (x[1] - s[1].sum()) / a1[1]
	s[2][0] += float64(x0 * a2[0])
	s[2][0] += float64(x1 * a2[1])
	x2 := (x[2] - s[2].sum()) / a2[2]
	s[3][0] += float64(x0 * a3[0])
	s[3][0] += float64(x1 * a3[1])
	s[3][0] += float64(x2 * a3[2])
	x[0], x[1], x[2], x[3] = x0, x1, x2, (x[3]-s[3].sum())/a3[3]
}

// Times returns the lower triangular l times x.
func Times(l Matrix, x []float64) []float64 {
	y := make([]float64, len(l))
	TimesInto(y, l, x, 0)
	return y
}

// TimesInto sets y, from number i on, a multiple of four, to the lower triangular l times x. It uses as many rows of l
// as y has elements.
func TimesInto(y []float64, l Matrix, x []float64, i int) {
	for ; i+4 <= len(y); i += 4 {
		timesFour(y[i:i+4], l[i:], x, i)
	}
	for ; i < len(y); i++ {
		y[i] = Dot(l[i][:i+1], x)
	}
}

// timesFour is TimesInto for four rows, of which the first has i elements left of the diagonal, a multiple of four.
// Fewer than four more products belong to the first sum, four to one each.
func timesFour(y []float64, l Matrix, x []float64, i int) {
	var s [4]lanes
	fourSums(&s, x[:i], l)
	x = x[i : i+4]
	l0, l1, l2, l3 := l[0][i:i+1], l[1][i:i+2], l[2][i:i+3], l[3][i:i+4]
	s[0][0] += float64(x[0] * l0[0])
	s[1][0] += float64(x[0] * l1[0])
	s[1][0] += float64(x[1] * l1[1])
	s[2][0] += float64(x[0] * l2[0])
	s[2][0] += float64(x[1] * l2[1])
	s[2][0] += float64(x[2] * l2[2])
	for k := range s[3] {
		s[3][k] += float64(x[k] * l3[k])
	}
	for k := range s {
		y[k] = s[k].sum()
	}
}

// Solve replaces b by x with l·x = b, for a lower triangular l.
func Solve(l Matrix, b []float64) {
	for i := range b {
		b[i] = (b[i] - Dot(l[i][:i], b)) / l[i][i]
	}
}

// SolveTransposed replaces b by x with lᵀ·x = b, for a lower triangular l.
func SolveTransposed(l Matrix, b []float64) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] /= l[i][i]
		Add(b, -b[i], l[i][:i])
	}
}

// Invert sets w to the inverse of the lower triangular l, which is lower triangular too, from row from on: those before
// it are done.
func Invert(w, l Matrix, from int) {
	for i := from; i < len(l); i += group {
		until, j := min(i+group, len(l)), 0
		for k := i; k < until; k++ {
			clear(w[k][:k+1])
		}
		for ; j+4 <= i; j += 4 {
			addFourRowsToAll(w[i:until], l[i:until], w, j)
		}
		for k := i; k < until; k++ {
			addRows(w[k], l[k][:k], w, j)
			divideAll(w[k][:k], -l[k][k])
			w[k][k] = 1 / l[k][k]
		}
	}
}

// AddRows adds xs times the rows of the lower triangular w to b, one row after the other.
func AddRows(b, xs []float64, w Matrix) { addRows(b, xs, w, 0) }

// addRows is AddRows from row k on.
func addRows(b, xs []float64, w Matrix, k int) {
	for ; k+4 <= len(xs); k += 4 {
		addFourRows(b, xs, w, k)
	}
	for ; k < len(xs); k++ {
		Add(b, xs[k], w[k][:k+1])
	}
}

// addFourRows is AddRows for rows k to k+3.
func addFourRows(b, xs []float64, w Matrix, k int) {
	addFour(b[:k+1], xs[k:], w[k:])
	addCorner(b, xs, w, k)
}

// addFourRowsToAll is addFourRows for each row of b, with that of xs.
func addFourRowsToAll(b, xs, w Matrix, k int) {
	i := 0
	for ; i+2 <= len(b); i += 2 {
		addFourToPair(b[i][:k+1], b[i+1][:k+1], xs[i][k:], xs[i+1][k:], w[k:])
		addCorner(b[i], xs[i], w, k)
		addCorner(b[i+1], xs[i+1], w, k)
	}
	for ; i < len(b); i++ {
		addFourRows(b[i], xs[i], w, k)
	}
}

// addCorner adds what rows k+1 to k+3 have more than row k, without loops, which would take as long as the rest.
func addCorner(b, xs []float64, w Matrix, k int) {
	b, xs = b[k+1:k+4], xs[k+1:k+4]
	w1, w2, w3 := w[k+1][k+1:], w[k+2][k+1:k+3], w[k+3][k+1:k+4]
	b[0] += float64(xs[0] * w1[0])
	b[0] += float64(xs[1] * w2[0])
	b[0] += float64(xs[2] * w3[0])
	b[1] += float64(xs[1] * w2[1])
	b[1] += float64(xs[2] * w3[1])
	b[2] += float64(xs[2] * w3[2])
}

// AddAll adds xs times the rows of w to b, one row after the other. The rows may be longer.
func AddAll(b, xs []float64, w Matrix) {
	k := 0
	for ; k+4 <= len(xs); k += 4 {
		addFour(b, xs[k:], w[k:])
	}
	for ; k < len(xs); k++ {
		Add(b, xs[k], w[k][:len(b)])
	}
}

// Gram sets g to wᵀ·w for a lower triangular w: the inverse of l·lᵀ if w is the inverse of l.
func Gram(g, w Matrix) {
	for i := 0; i < len(w); i += group {
		until := min(i+group, len(w))
		for j := i; j < until; j++ {
			clear(g[j][:j+1])
			for k := j; k < until; k++ {
				Add(g[j], w[k][j], w[k][:j+1])
			}
		}
		addColumns(g, w, i, until)
	}
}

// addColumns adds to row j of g, from row i until another one, element j of each row of w from that one on, times the
// row.
func addColumns(g, w Matrix, i, until int) {
	var column [4]float64
	k := until
	for ; k+4 <= len(w); k += 4 {
		for j := i; j < until; j++ {
			for r := range column {
				column[r] = w[k+r][j]
			}
			addFour(g[j][:j+1], column[:], w[k:])
		}
	}
	for ; k < len(w); k++ {
		for j := i; j < until; j++ {
			Add(g[j], w[k][j], w[k][:j+1])
		}
	}
}
