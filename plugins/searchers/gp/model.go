package gp

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/searchers/internal/dense"
)

// A model is the posterior of a Gaussian process. Points without a result can be added: they remove
// the uncertainty at their positions and do not change the mean, as results equal to the
// expectation would.
type model struct {
	shape   kernelParams
	numbers int
	x       [][]float64 // the numbers times the square roots of their rates
	roots   []float64
	// results is the number of points with a result.
	results int
	taken   int          // the number of points whose rows are another model's
	root    dense.Matrix // Cholesky root of the covariance
	inverse dense.Matrix // the inverse of root
	weights []float64    // of the results in the mean
	// means are the means at the points with a result, and best is the smallest mean at any point.
	means []float64
	best  float64
	k, u  []float64 // buffers
}

// newModel has room for further more points. It takes rows of another model, which may be nil, for the points with
// which both begin. It returns nil if the covariance is singular, which noise prevents.
func newModel(from *model, s kernelParams, x [][]float64, y []float64, numbers, further int) *model {
	n := len(x) + further
	m := &model{shape: s, numbers: numbers, root: dense.New(n, n), inverse: dense.New(n, n), k: make([]float64, n),
		u: make([]float64, n), best: math.Inf(1)}
	for _, rate := range s.rates[:numbers] {
		m.roots = append(m.roots, math.Sqrt(rate))
	}
	for _, at := range x {
		if at = m.scaled(at); !m.take(from, at) && !m.append(at) {
			return nil
		}
	}
	m.results = len(x)
	for i, at := range x {
		m.weights = append(m.weights, y[i]-m.expected(at))
	}
	dense.Solve(m.root[:len(x)], m.weights)
	dense.SolveTransposed(m.root[:len(x)], m.weights)
	for i, w := range m.weights {
		m.means = append(m.means, y[i]-float64(s.noise*w))
		m.best = math.Min(m.best, m.means[i])
	}
	return m
}

// take is append with the row of another model. It returns false if that has another shape, or another point there.
func (m *model) take(from *model, at []float64) bool {
	n := len(m.x)
	if from == nil || n >= len(from.x) || n != m.taken || !from.shape.same(&m.shape) || !slices.Equal(from.x[n], at) {
		return false
	}
	copy(m.root[n], from.root[n][:n+1])
	copy(m.inverse[n], from.inverse[n][:n+1])
	m.x = append(m.x, at)
	m.taken++
	return true
}

// expected returns what is expected at a point before any result.
func (m *model) expected(x []float64) float64 { return m.shape.bowl.at(x[:m.numbers]) }

// scaled returns a point as the model stores it.
func (m *model) scaled(x []float64) []float64 {
	at := make([]float64, len(x))
	copy(at, x)
	for k, root := range m.roots {
		at[k] *= root
	}
	return at
}

// append adds a point to the covariance.
func (m *model) append(at []float64) bool {
	n := len(m.x)
	m.covariances(at)
	copy(m.root[n], m.k[:n])
	m.root[n][n] = m.shape.scale + m.shape.noise
	if !dense.CholeskyRow(m.root, n) {
		return false
	}
	dense.InvertRow(m.inverse, m.root, n)
	m.x = append(m.x, at)
	return true
}

// pend adds a point without a result.
func (m *model) pend(x []float64) {
	if len(m.x) == len(m.root) {
		return
	}
	mean, _ := m.predict(x)
	m.best = math.Min(m.best, mean)
	m.append(m.scaled(x))
}

// covariances sets k to the covariances of a point with all others.
func (m *model) covariances(at []float64) {
	for i, x := range m.x {
		m.k[i], _ = matern(m.square(at, x))
		m.k[i] *= m.shape.scale
	}
}

// square returns the squared distance of two points.
func (m *model) square(a, b []float64) (sum float64) {
	for k := range m.numbers {
		d := a[k] - b[k]
		sum += float64(d * d)
	}
	for k := m.numbers; k < len(a); k++ {
		if a[k] != b[k] {
			sum += m.shape.rates[k]
		}
	}
	return sum
}

// predict returns the mean and the standard deviation of the function at a point.
func (m *model) predict(x []float64) (mean, sd float64) {
	m.covariances(m.scaled(x))
	mean, sd = m.conclude()
	return mean + m.expected(x), sd
}

// conclude finishes predict, but for what is expected, and sets u.
func (m *model) conclude() (mean, sd float64) {
	n := len(m.x)
	dense.TimesInto(m.u[:n], m.inverse, m.k)
	variance := m.shape.scale - dense.Dot(m.u[:n], m.u)
	return dense.Dot(m.weights, m.k), math.Sqrt(math.Max(variance, 1e-10*m.shape.scale))
}

// slopes is predict with the gradients by the numbers of the point.
func (m *model) slopes(x, ofMean, ofSD []float64) (mean, sd float64) {
	n, at := len(m.x), m.scaled(x)
	bends := make([]float64, n)
	for i, other := range m.x {
		value, slope := matern(m.square(at, other))
		m.k[i], bends[i] = m.shape.scale*value, 2*m.shape.scale*slope
	}
	mean, sd = m.conclude()
	v := make([]float64, n)
	dense.AddRows(v, m.u[:n], m.inverse)
	clear(ofMean)
	clear(ofSD)
	for i, other := range m.x {
		byMean, bySD := 0.0, -v[i]*bends[i]/sd
		if i < m.results {
			byMean = m.weights[i] * bends[i]
		}
		for k := range m.numbers {
			d := at[k] - other[k]
			ofMean[k] += float64(byMean * d)
			ofSD[k] += float64(bySD * d)
		}
	}
	for k, root := range m.roots {
		ofMean[k] = float64(root*ofMean[k]) + m.shape.bowl.slope(x[k])
		ofSD[k] *= root
	}
	return mean + m.expected(x), sd
}
