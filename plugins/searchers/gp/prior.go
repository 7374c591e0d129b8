package gp

// What is believed before there is any result, with one objective: the best point is rather in the middle of the ranges
// than at their bounds. People choose ranges that are wide enough, and without the belief suggestions go to the bounds
// first, because the model knows least there (C. Oh, E. Gavves and M. Welling, BOCK: Bayesian Optimization with
// Cylindrical Kernels, 2018). Results soon count for more.
const (
	// inner is the share of each range, around its middle, that the first points are in.
	inner = 0.6
	// mostValueless is up to how many points without a value yet, in multiples of startup, points are there: results
	// may never come.
	mostValueless = 4
	// bend is by how much the loss at a bound of a number is expected to be above that in the middle, in standard
	// deviations of the warped losses.
	bend bowl = 0.2
)

// A bowl is an expected loss: the sum of a parabola for each number, as high at the bounds as it says above the middle.
// Its mean over a range is 0.
type bowl float64

// at returns the expected loss at numbers from 0 to 1.
func (b bowl) at(numbers []float64) (sum float64) {
	for _, x := range numbers {
		away := 2*x - 1
		sum += float64(away*away) - 1.0/3
	}
	return float64(b) * sum
}

// slope returns the derivative by a number.
func (b bowl) slope(x float64) float64 { return 4 * float64(b) * (2*x - 1) }

// toMiddle maps the range from 0 to 1 to the inner part of it.
func toMiddle(x float64) float64 { return 0.5 + float64(inner*(x-0.5)) }
