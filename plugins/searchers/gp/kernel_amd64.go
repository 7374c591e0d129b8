package gp

import (
	"math"

	"github.com/tunehost/tunehost/plugins/searchers/internal/dense"
)

// factors are the constants of the vector instructions.
var factors = [...]float64{5, 1, 3, -5.0 / 6, math.Copysign(0, -1)}

//go:noescape
func vectorRoots(squares, negative *float64, n int, factors *[5]float64)

//go:noescape
func vectorSlopes(roots, exps, slopes *float64, n int, scale float64, factors *[5]float64)

//go:noescape
func vectorValues(roots, exps *float64, n int, scale float64, factors *[5]float64)

// fours returns how many numbers of n are computed four at a time. The instructions round like those for one number, so
// the bits are the same.
func fours(n int) int {
	if !dense.Vectors() {
		return 0
	}
	return n &^ 3
}

// rootsOfFour is slowRoots for the first n numbers.
func rootsOfFour(squares, negative []float64) (n int) {
	if n = fours(len(squares)); n > 0 {
		vectorRoots(&squares[0], &negative[:n][0], n, &factors)
	}
	return n
}

// slopesOfFour is slowSlopes for the first n numbers.
func slopesOfFour(roots, exps, slopes []float64, scale float64) (n int) {
	if n = fours(len(roots)); n > 0 {
		vectorSlopes(&roots[0], &exps[:n][0], &slopes[:n][0], n, scale, &factors)
	}
	return n
}

// valuesOfFour is slowValues for the first n numbers.
func valuesOfFour(roots, exps []float64, scale float64) (n int) {
	if n = fours(len(roots)); n > 0 {
		vectorValues(&roots[0], &exps[:n][0], n, scale, &factors)
	}
	return n
}
