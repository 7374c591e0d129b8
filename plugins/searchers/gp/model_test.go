package gp

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// someData returns n points with two numbers and a choice.
func someData(n int, seed uint64) (x [][]float64, y []float64) {
	rng := space.NewRand(seed)
	for range n {
		at := []float64{rng.Float64(), rng.Float64(), math.Floor(rng.Float64() * 3)}
		x = append(x, at)
		y = append(y, math.Sin(5*at[0])+at[1]*at[2]-1)
	}
	standardise(y)
	return x, y
}

var someShape = kernelParams{rates: []float64{8, 2, 0.7}, scale: 1.3, noise: 0.01, bowl: 0.4}

// covariance is the kernel in its textbook form.
func covariance(s kernelParams, a, b []float64) float64 {
	square := 0.0
	for k, rate := range s.rates {
		d := a[k] - b[k]
		if k == 2 && d != 0 {
			d = 1
		}
		square += rate * d * d
	}
	r := math.Sqrt(5 * square)
	return s.scale * (1 + r + r*r/3) * math.Exp(-r)
}

// Matérn's function of many distances, from 0 to far ones, is that of its textbook form, with the same bits as without
// instructions for four numbers at a time.
func TestMaterns(t *testing.T) {
	for n := range 20 {
		squares, slopes, values := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range squares {
			squares[i] = math.Pow(float64(i)/4, 5)
		}
		wanted, wantedValues, wantedSlopes := slices.Clone(squares), make([]float64, n), make([]float64, n)
		slowRoots(wanted, wantedValues, 0)
		portable.Exps(wantedValues)
		slowSlopes(wanted, wantedValues, wantedSlopes, 1.7, 0)
		slowValues(wanted, wantedValues, 1.7, 0)
		materns(slices.Clone(squares), values, slopes, 1.7)
		if !slices.Equal(values, wantedValues) || !slices.Equal(slopes, wantedSlopes) {
			t.Errorf("%d numbers: %v and %v, want %v and %v", n, values, slopes, wantedValues, wantedSlopes)
		}
		for i, square := range squares {
			r := math.Sqrt(5 * square)
			want, slope := 1.7*(1+r+r*r/3)*math.Exp(-r), -1.7*5.0/6*(1+r)*math.Exp(-r)
			if math.Abs(values[i]-want) > 1e-12 || math.Abs(slopes[i]-slope) > 1e-12 {
				t.Errorf("at %v: %v and %v, want %v and %v", square, values[i], slopes[i], want, slope)
			}
		}
	}
}

// The posterior equals the textbook formulae, with gonum's inverse.
func TestPosterior(t *testing.T) {
	x, y := someData(15, 1)
	pending := [][]float64{{0.9, 0.9, 1}, {0.1, 0.5, 2}}
	m := newModel(nil, someShape, x, y, 2, len(pending))
	for _, p := range pending {
		m.pend(p)
	}
	at := []float64{0.3, 0.6, 1}
	mean, sd := m.predict(at)
	wantMean, _ := formula(x, y, at)
	_, wantSD := formula(append(x, pending...), append(y, 0, 0), at)
	if math.Abs(mean-wantMean) > 1e-9 || math.Abs(sd-wantSD) > 1e-9 {
		t.Errorf("%v ± %v, want %v ± %v", mean, sd, wantMean, wantSD)
	}
	for i := range x {
		if want, _ := formula(x, y, x[i]); math.Abs(m.means[i]-want) > 1e-9 {
			t.Errorf("the mean at point %d is %v, want %v", i, m.means[i], want)
		}
	}
}

// expected is the mean before any result, by its definition: 0.4 higher at a bound than in the middle.
func expected(at []float64) float64 {
	return 0.4 * (math.Pow(2*at[0]-1, 2) + math.Pow(2*at[1]-1, 2) - 2.0/3)
}

func formula(x [][]float64, y, at []float64) (mean, sd float64) {
	n := len(x)
	rest := make([]float64, n)
	for i := range rest {
		rest[i] = y[i] - expected(x[i])
	}
	k, row := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for i := range x {
		for j := range x {
			k.Set(i, j, covariance(someShape, x[i], x[j]))
		}
		k.Set(i, i, k.At(i, i)+someShape.noise)
		row.SetVec(i, covariance(someShape, x[i], at))
	}
	var inverse mat.Dense
	if err := inverse.Inverse(k); err != nil {
		panic(err)
	}
	var u mat.VecDense
	u.MulVec(&inverse, row)
	return expected(at) + mat.Dot(&u, mat.NewVecDense(n, rest)), math.Sqrt(someShape.scale - mat.Dot(&u, row))
}

// A model that takes rows of another one is the same to the last bit, wherever the points differ.
func TestRowsOfAnotherModel(t *testing.T) {
	x, y := someData(20, 6)
	before := newModel(nil, someShape, x[:15], y[:15], 2, 2)
	before.pend(x[15])
	before.pend(x[16])
	other := someShape.shorter()
	replaced := slices.Concat(x[:7], x[8:])
	for _, c := range []struct {
		name  string
		shape kernelParams
		x     [][]float64
		taken int
	}{
		{"longer", someShape, x, 17}, {"shorter", someShape, x[:4], 4}, {"one is missing", someShape, replaced, 7},
		{"another shape", other, x, 0},
	} {
		got, want := newModel(before, c.shape, c.x, y[:len(c.x)], 2, 1), newModel(nil, c.shape, c.x, y[:len(c.x)], 2, 1)
		if got.taken != c.taken {
			t.Errorf("%s: %d rows were taken, want %d", c.name, got.taken, c.taken)
		}
		for _, m := range []*model{got, want} {
			m.pend([]float64{0.5, 0.5, 0})
			m.taken = 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the models differ", c.name)
		}
	}
}

// difference returns the numerical derivative of f by x[k].
func difference(f func([]float64) float64, x []float64, k int) float64 {
	const h = 1e-5
	above, below := append([]float64(nil), x...), append([]float64(nil), x...)
	above[k] += h
	below[k] -= h
	return (f(above) - f(below)) / (2 * h)
}

func TestSlopes(t *testing.T) {
	x, y := someData(15, 2)
	m := newModel(nil, someShape, x, y, 2, 1)
	m.pend([]float64{0.5, 0.5, 0})
	at := []float64{0.35, 0.6, 2}
	ofMean, ofSD := make([]float64, 2), make([]float64, 2)
	m.slopes(at, ofMean, ofSD)
	for k := range 2 {
		mean := difference(func(x []float64) float64 { mean, _ := m.predict(x); return mean }, at, k)
		sd := difference(func(x []float64) float64 { _, sd := m.predict(x); return sd }, at, k)
		if math.Abs(mean-ofMean[k]) > 1e-6 || math.Abs(sd-ofSD[k]) > 1e-6 {
			t.Errorf("by %d: %v and %v, want %v and %v", k, ofMean[k], ofSD[k], mean, sd)
		}
	}
}

func newFitting(x [][]float64, y []float64) *fitting {
	f := &fitting{x: x, y: y, numbers: 2}
	f.prepare()
	return f
}

func TestFitGradient(t *testing.T) {
	x, y := someData(20, 3)
	f := newFitting(x, y)
	theta, gradient := []float64{0.5, -1, 0.2, 0.3, -3}, make([]float64, 5)
	f.loss(theta, gradient)
	for k := range theta {
		want := difference(func(theta []float64) float64 { return f.loss(theta, make([]float64, 5)) }, theta, k)
		if math.Abs(want-gradient[k]) > 1e-5 {
			t.Errorf("by %d: %v, want %v", k, gradient[k], want)
		}
	}
}

// The shape distinguishes relevant from irrelevant features, and noise from signal.
func TestFit(t *testing.T) {
	rng := space.NewRand(5)
	var x [][]float64
	var y, noisy []float64
	for range 80 {
		at := []float64{rng.Float64(), rng.Float64(), math.Floor(rng.Float64() * 3)}
		x, y = append(x, at), append(y, math.Sin(6*at[0]))
		noisy = append(noisy, math.Sin(6*at[0])+0.5*rng.NormFloat64())
	}
	standardise(y)
	standardise(noisy)
	if s := fit(x, y, 2, 0); !(s.rates[0] > 20*s.rates[1] && s.rates[0] > 20*s.rates[2] && s.noise < 1e-3) {
		t.Errorf("%+v", s)
	}
	if s := fit(x, noisy, 2, 0); !(s.noise > 0.1 && s.noise < 0.6) {
		t.Errorf("%+v", s)
	}
}

func TestLogImprovement(t *testing.T) {
	normal := distuv.UnitNormal
	for z := -6.0; z < 9; z += 0.0371 {
		got, slope := logImprovement(z)
		h := normal.Prob(z) + z*normal.CDF(z)
		if math.Abs(got-math.Log(h)) > 1e-8 || math.Abs(slope-normal.CDF(z)/h) > 1e-6*slope {
			t.Fatalf("at %v: %v, want %v; slope %v, want %v", z, got, math.Log(h), slope, normal.CDF(z)/h)
		}
	}
	// Far below, only the asymptote remains: -z²/2 - ln(z²√(2π)).
	for _, z := range []float64{-1e2, -1e4, -1e6, -1e9} {
		got, slope := logImprovement(z)
		want := -z*z/2 - 2*math.Log(-z) - logRootTau
		if math.Abs(got-want) > 1e-3 || math.Abs(slope/-z-1) > 1e-3 {
			t.Errorf("at %v: %v, want %v; slope %v", z, got, want, slope)
		}
	}
}

// The quick bound is above the improvement, and not far above.
func TestMostImprovement(t *testing.T) {
	for z := -60.0; z < 9; z += 0.0371 {
		got, _ := logImprovement(z)
		if most := mostImprovement(z); most < got-1e-6 || most > got+0.15 {
			t.Errorf("at %v: %v and at most %v", z, got, most)
		}
	}
}

func TestWarp(t *testing.T) {
	inf := math.Inf(1)
	z := warp([]float64{1, 100, 3, inf, 2, 1e300, 5})
	mean, variance := moments(z)
	if math.Abs(mean) > 1e-9 || math.Abs(variance-1) > 1e-9 || z[3] != z[5] ||
		!(z[0] < z[4] && z[4] < z[2] && z[2] < z[6] && z[6] < z[1] && z[1] < z[3]) {
		t.Error(z)
	}
	for _, same := range [][]float64{{2, 2, 2}, {inf, inf}, {math.MaxFloat64, -math.MaxFloat64}, {7}} {
		for _, x := range warp(same) {
			if math.IsNaN(x) || math.Abs(x) > 1 {
				t.Errorf("%v became %v", same, warp(same))
			}
		}
	}
	// Log-normal values with a skewness of about 20 become nearly normal.
	rng := space.NewRand(3)
	var losses []float64
	for range 400 {
		losses = append(losses, math.Exp(2*rng.NormFloat64()))
	}
	skew := 0.0
	for _, x := range warp(losses) {
		skew += x * x * x / 400
	}
	if math.Abs(skew) > 1 {
		t.Errorf("skewness %.2f", skew)
	}
}
