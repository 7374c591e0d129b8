//go:build !amd64

package dense

func fourSums(sums *[4]lanes, x []float64, rows Matrix) { slowFourSums(sums, x, rows) }

// Dots sets y to the dot products of x and rows, which may be longer.
func Dots(y, x []float64, rows Matrix) { slowDots(y, x, rows) }

func addFour(b, xs []float64, rows Matrix) { slowAddFour(b, xs, rows) }

func eliminate(rows, a Matrix, j int) { slowEliminate(rows, a, j) }

func addFourToPair(b, c, xs, ys []float64, rows Matrix) { slowAddFourToPair(b, c, xs, ys, rows) }

func divideAll(x []float64, by float64) { slowDivide(x, by) }
