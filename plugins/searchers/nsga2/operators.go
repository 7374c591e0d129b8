package nsga2

import "github.com/tunehost/tunehost/plugins/searchers/internal/portable"

// Distribution indices: the similarity of children and parents, as in Deb's experiments.
const (
	crossoverIndex = 15
	mutationIndex  = 20
)

// blend returns a child of the numbers a and b by simulated binary crossover, nearer to a (K. Deb
// and R. B. Agrawal, 1995); u is uniform in [0, 1).
func blend(a, b, u float64) float64 {
	spread := 0.0
	switch {
	case u <= 0:
	case u <= 0.5:
		spread = root(2*u, crossoverIndex+1)
	default:
		spread = 1 / root(2*(1-u), crossoverIndex+1)
	}
	return (a+b)/2 + float64(spread*((a-b)/2)) // not fused
}

// shift returns the change of a number of the unit interval by polynomial mutation; u is uniform in
// [0, 1).
func shift(u float64) float64 {
	switch {
	case u <= 0:
		return -1
	case u < 0.5:
		return root(2*u, mutationIndex+1) - 1
	}
	return 1 - root(2*(1-u), mutationIndex+1)
}

// root returns the n-th root of a positive x.
func root(x float64, n float64) float64 { return portable.Exp(portable.Log(x) / n) }
