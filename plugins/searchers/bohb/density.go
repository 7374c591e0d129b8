package bohb

import (
	"math"
	"math/rand/v2"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// A model has the densities of the good and the bad trials of a budget.
type model struct{ good, bad *density }

// A density is a mean of product kernels, one for each row: normal kernels for numbers in unit
// coordinates, and for choices the kernel of J. Aitchison and C. G. G. Aitken (1976), which leaves
// some probability for the other values.
type density struct {
	space *space.Space
	rows  [][]float64
	width []float64 // of each parameter
	least float64   // width
}

// absent is the kernel's value if a parameter exists in only one of two points.
const absent = 0.05

// newDensity returns a density whose kernels are at least so wide, for parameters that hardly vary.
func newDensity(s *space.Space, results []result, least float64) *density {
	d := &density{space: s, width: make([]float64, len(s.Params)), least: least}
	for _, r := range results {
		d.rows = append(d.rows, d.coordinates(r.point))
	}
	for i := range d.width {
		d.width[i] = d.reference(i)
	}
	return d
}

// coordinates returns the coordinates of a point: the index for choices, the unit interval for
// numbers, NaN for parameters that do not exist.
func (d *density) coordinates(p space.Point) []float64 {
	u := make([]float64, len(p))
	for i, x := range p {
		u[i] = x
		if d.space.Params[i].Kind != space.Choice {
			u[i] = d.space.ToUnit(i, x)
		}
	}
	return u
}

// reference returns the bandwidth of the normal reference rule, 1.06·σ·n^(-1/(4+d)).
func (d *density) reference(i int) float64 {
	n, sum, squares := 0.0, 0.0, 0.0
	for _, row := range d.rows {
		if x := row[i]; !math.IsNaN(x) {
			n, sum, squares = n+1, sum+x, squares+float64(x*x)
		}
	}
	if n < 2 {
		return d.least
	}
	mean := sum / n
	spread := math.Sqrt(max(0, squares/n-float64(mean*mean)))
	width := 1.06 * spread * portable.Exp(-portable.Log(n)/float64(4+len(d.width)))
	if choices := len(d.space.Params[i].Choices); d.space.Params[i].Kind == space.Choice {
		return max(d.least, min(width, float64(choices-1)/float64(choices)))
	}
	return max(d.least, width)
}

// log returns the logarithm of the density, up to a constant that is the same for all points with
// the same parameters.
func (d *density) log(u []float64) float64 {
	most := math.Inf(-1)
	logs := make([]float64, len(d.rows))
	for k, row := range d.rows {
		logs[k] = d.kernel(row, u)
		most = max(most, logs[k])
	}
	sum := 0.0
	for _, x := range logs {
		sum += portable.Exp(x - most)
	}
	return most + portable.Log(sum/float64(len(logs)))
}

// kernel returns the logarithm of a row's kernel.
func (d *density) kernel(row, u []float64) (sum float64) {
	for i := range u {
		switch here, there := math.IsNaN(u[i]), math.IsNaN(row[i]); {
		case here && there:
		case here || there:
			sum += logAbsent
		case d.space.Params[i].Kind == space.Choice:
			sum += d.choice(i, u[i] == row[i])
		default:
			z := (u[i] - row[i]) / d.width[i]
			sum -= float64(z*z)/2 + portable.Log(d.width[i])
		}
	}
	return sum
}

var logAbsent = portable.Log(absent)

func (d *density) choice(i int, same bool) float64 {
	if same {
		return portable.Log(1 - d.width[i])
	}
	return portable.Log(d.width[i] / float64(max(1, len(d.space.Params[i].Choices)-1)))
}

// around draws a point near a row; the widths for numbers are factor times those of the kernels.
func (d *density) around(row []float64, factor float64, rng *rand.Rand) space.Point {
	p := make(space.Point, len(row))
	for i, u := range row {
		draw, other := rng.Float64(), rng.Float64()
		switch {
		case math.IsNaN(u):
			p[i] = u
		case d.space.Params[i].Kind == space.Choice:
			if p[i] = u; draw < d.width[i] {
				p[i] = d.space.FromUnit(i, other)
			}
		default:
			p[i] = d.space.FromUnit(i, truncated(u, factor*d.width[i], draw))
		}
	}
	return p
}

// truncated returns a number of [0, 1] from a truncated normal distribution; draw is uniform.
func truncated(mean, sd, draw float64) float64 {
	low, high := portable.CDF(-mean/sd), portable.CDF((1-mean)/sd)
	z := portable.Quantile(low + float64(draw*(high-low)))
	return max(0, min(1, mean+float64(sd*z)))
}
