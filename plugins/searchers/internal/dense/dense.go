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

// Cholesky replaces the symmetric a by the lower triangular l with l·lᵀ = a. It returns false if a
// is not positive definite.
func Cholesky(a Matrix) bool {
	for i := range a {
		if !CholeskyRow(a, i) {
			return false
		}
	}
	return true
}

// CholeskyRow computes row i only; the rows before it must be done.
func CholeskyRow(a Matrix, i int) bool {
	row := a[i]
	j := 0
	for ; j+4 <= i; j += 4 {
		sums := fourSums(row[:j], a[j:])
		for k := range sums {
			sums[k].upTo(j, row[:j+k], a[j+k])
			row[j+k] = (row[j+k] - sums[k].sum()) / a[j+k][j+k]
		}
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
		sums := fourSums(x[:i], l[i:])
		for k := range sums {
			sums[k].upTo(i, x[:i+k+1], l[i+k])
			y[i+k] = sums[k].sum()
		}
	}
	for ; i < len(y); i++ {
		y[i] = Dot(l[i][:i+1], x)
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

// Invert sets w to the inverse of the lower triangular l, which is lower triangular too.
func Invert(w, l Matrix) {
	for i := range l {
		InvertRow(w, l, i)
	}
}

// InvertRow computes row i only; the rows before it must be done.
func InvertRow(w, l Matrix, i int) {
	row := w[i][:i+1]
	clear(row)
	AddRows(row, l[i][:i], w)
	for j := range i {
		row[j] = -row[j] / l[i][i]
	}
	row[i] = 1 / l[i][i]
}

// AddRows adds xs times the rows of the lower triangular w to b, one row after the other.
func AddRows(b, xs []float64, w Matrix) {
	k := 0
	for ; k+4 <= len(xs); k += 4 {
		addFour(b[:k+1], xs[k:], w[k:])
		for i := k + 1; i < k+4; i++ { // what these rows have more
			Add(b[k+1:], xs[i], w[i][k+1:i+1])
		}
	}
	for ; k < len(xs); k++ {
		Add(b, xs[k], w[k][:k+1])
	}
}

// Gram sets g to wᵀ·w for a lower triangular w: the inverse of l·lᵀ if w is the inverse of l.
func Gram(g, w Matrix) {
	var column [4]float64
	for i := range w {
		row := g[i][:i+1]
		clear(row)
		k := i
		for ; k+4 <= len(w); k += 4 {
			for j := range column {
				column[j] = w[k+j][i]
			}
			addFour(row, column[:], w[k:])
		}
		for ; k < len(w); k++ {
			Add(row, w[k][i], w[k][:i+1])
		}
	}
}
