//go:build !amd64

package dense

func fourSums(x []float64, rows Matrix) [4]lanes { return slowFourSums(x, rows) }

func addFour(b, xs []float64, rows Matrix) { slowAddFour(b, xs, rows, 0) }
