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
	x       [][]float64  // the numbers times the square roots of their rates
	columns dense.Matrix // the same, feature by feature
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
	// Buffers with a number for each point: the roots of the squared distances from the last point, its covariances,
	// their derivatives, the root's inverse times the covariances, and its transpose times that.
	distances, k, bends, u, v []float64
}

// newModel has room for further more points. It takes rows of another model, which may be nil, for the points with
// which both begin. It returns nil if the covariance is singular, which noise prevents.
func newModel(from *model, s kernelParams, x [][]float64, y []float64, numbers, further int) *model {
	n := len(x) + further
	room := dense.New(5, n)
	m := &model{shape: s, numbers: numbers, columns: dense.New(len(s.rates), n), best: math.Inf(1),
		root: make(dense.Matrix, 0, n), inverse: make(dense.Matrix, 0, n),
		distances: room[0], k: room[1], bends: room[2], u: room[3], v: room[4]}
	for _, rate := range s.rates[:numbers] {
		m.roots = append(m.roots, math.Sqrt(rate))
	}
	for _, at := range x {
		if at = m.scaled(at); !m.take(from, at) {
			m.extend(at)
		}
	}
	if !m.factorise(m.taken) {
		return nil
	}
	m.results = len(x)
	for i, at := range x {
		m.weights = append(m.weights, y[i]-m.expected(at))
	}
	dense.Solve(m.root, m.weights)
	dense.SolveTransposed(m.root, m.weights)
	for i, w := range m.weights {
		m.means = append(m.means, y[i]-float64(s.noise*w))
		m.best = math.Min(m.best, m.means[i])
	}
	return m
}

// take is extend with the rows of another model. It returns false if that has another shape, or another point there.
func (m *model) take(from *model, at []float64) bool {
	n := len(m.x)
	if from == nil || n >= len(from.x) || n != m.taken || !from.shape.same(&m.shape) || !slices.Equal(from.x[n], at) {
		return false
	}
	m.add(at, from.root[n], from.inverse[n])
	m.taken++
	return true
}

// add adds a point with its rows.
func (m *model) add(at, root, inverse []float64) {
	for k, x := range at {
		m.columns[k][len(m.x)] = x
	}
	m.x, m.root, m.inverse = append(m.x, at), append(m.root, root), append(m.inverse, inverse)
}

// extend adds a point whose row of root has covariances and is to be factorised.
func (m *model) extend(at []float64) {
	n := len(m.x)
	root, inverse := make([]float64, n+1), make([]float64, n+1)
	m.covariances(at, nil)
	copy(root, m.k[:n])
	root[n] = m.shape.scale + m.shape.noise
	m.add(at, root, inverse)
}

// factorise computes the rows of root and inverse from one on. It returns false if the covariance is singular.
func (m *model) factorise(from int) bool {
	if !dense.Cholesky(m.root, from) {
		return false
	}
	dense.Invert(m.inverse, m.root, from)
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

// pend adds a point without a result.
func (m *model) pend(x []float64) {
	if len(m.x) == len(m.k) {
		return
	}
	mean, _ := m.predict(x)
	m.best = math.Min(m.best, mean)
	n := len(m.x)
	if m.extend(m.scaled(x)); !m.factorise(n) {
		m.x, m.root, m.inverse = m.x[:n], m.root[:n], m.inverse[:n]
	}
}

// covariances sets k to the covariances of a point with all others, and slopes, unless it is nil, to their derivatives
// by the squared distances.
func (m *model) covariances(at, slopes []float64) {
	n := len(m.x)
	squares, k := m.distances[:n], m.k[:n]
	clear(squares)
	for j, x := range at[:m.numbers] {
		dense.AddSquares(squares, x, m.columns[j])
	}
	for j := m.numbers; j < len(at); j++ {
		dense.AddWhere(squares, at[j], m.columns[j], false, m.shape.rates[j])
	}
	materns(squares, k, slopes, m.shape.scale)
}

// predict returns the mean and the standard deviation of the function at a point.
func (m *model) predict(x []float64) (mean, sd float64) {
	mean = m.mean(x)
	return mean, m.sd(0, len(m.x))
}

// mean returns the mean at a point, whose covariances it leaves in k.
func (m *model) mean(x []float64) float64 {
	m.covariances(m.scaled(x), nil)
	return dense.Dot(m.weights, m.k) + m.expected(x)
}

// sd returns the standard deviation at the point of k given only the first until points. It has been called for the
// first from of them, a multiple of four.
func (m *model) sd(from, until int) float64 {
	dense.TimesInto(m.u[:until], m.inverse, m.k, from)
	variance := m.shape.scale - dense.Dot(m.u[:until], m.u)
	return math.Sqrt(math.Max(variance, 1e-10*m.shape.scale))
}

// slopes is predict with the gradients by the numbers of the point.
func (m *model) slopes(x, ofMean, ofSD []float64) (mean, sd float64) {
	n, at := len(m.x), m.scaled(x)
	bends, v := m.bends[:n], m.v[:n]
	m.covariances(at, bends)
	mean, sd = dense.Dot(m.weights, m.k)+m.expected(x), m.sd(0, n)
	clear(v)
	dense.AddRows(v, m.u[:n], m.inverse)
	clear(ofMean)
	clear(ofSD)
	for i, other := range m.x {
		bend := 2 * bends[i]
		byMean, bySD := 0.0, -v[i]*bend/sd
		if i < m.results {
			byMean = m.weights[i] * bend
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
	return mean, sd
}
