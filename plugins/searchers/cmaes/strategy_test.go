package cmaes

import (
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/cube"
	. "github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

func sphere(p space.Point) float64 {
	sum := 0.0
	for i, x := range p {
		sum += math.Pow(x-0.3-0.05*float64(i), 2)
	}
	return sum
}

// ellipsoid is long and thin, and rotated against the axes.
func ellipsoid(p space.Point) float64 {
	sum := 0.0
	for i := range p {
		along := 0.0
		for j, x := range p {
			along += (x - 0.4) * math.Cos(math.Pi*float64(i)*(float64(j)+0.5)/float64(len(p)))
		}
		sum += math.Pow(100, float64(i)/float64(len(p)-1)) * along * along
	}
	return sum
}

// It converges at the expected rate, even with steps in most dimensions. A strategy that does not
// learn correlations stays a thousand times farther away in the ellipsoid.
func TestConvergesFar(t *testing.T) {
	stepped := Reals(6, 0, 1)
	for i := range 4 {
		stepped.Params[i].Step = 0.05
	}
	for _, c := range []struct {
		problem Problem
		options string
		trials  int
		limit   float64
	}{
		{Problem{Name: "sphere", Space: Reals(6, 0, 1), Loss: sphere}, "{}", 800, 1e-8},
		{Problem{Name: "adapted", Space: Reals(6, 0, 1), Loss: sphere}, `{"adapt": true}`, 2500, 1e-8},
		{Problem{Name: "ellipsoid", Space: Reals(6, 0, 1), Loss: ellipsoid}, "{}", 1600, 1e-7},
		{Problem{Name: "stepped", Space: stepped, Loss: sphere}, "{}", 1200, 1e-7},
	} {
		if got := Best(t, Plugin, c.problem, c.options, 3, c.trials); got > c.limit {
			t.Errorf("%s: %.3g, want at most %g", c.problem.Name, got, c.limit)
		} else {
			t.Logf("%s: %.3g", c.problem.Name, got)
		}
	}
}

// The limits lie between the result of the strategy and those of versions with one defect: reversed
// weights, a fixed mean, choices that do not learn.
func TestConverges(t *testing.T) {
	limits := []float64{0.45, -3.0, 0.2, 0.15}
	for i, problem := range Problems() {
		got := Best(t, Plugin, problem, "{}", 8, 200)
		if t.Logf("%s: %.4f; random %.4f", problem.Name, got,
			Best(t, Plugin, problem, `{"startup": 100000}`, 4, 200)); got > limits[i] {
			t.Errorf("%s: %.4f, want at most %.4f", problem.Name, got, limits[i])
		}
	}
}

// With noise, adapted rates come nearer.
func TestNoise(t *testing.T) {
	run := func(options string) (mean float64) {
		for number := range 6 {
			rng := space.NewRand(uint64(number))
			s := mustOpen(t, Reals(5, 0, 1), options)
			Run(t, s, Reals(5, 0, 1), number, 2000, 1,
				func(p space.Point) []float64 { return []float64{sphere(p) + 0.05*rng.NormFloat64()} })
			mean += sphere(space.Point(s.strategy.mean)) / 6
		}
		return mean
	}
	with, without := run(`{"adapt": true, "restarts": false}`), run(`{"restarts": false}`)
	if t.Logf("%.2g, without %.2g", with, without); with > without/2 {
		t.Errorf("%.3g from the best on average, without adapting %.3g", with, without)
	}
}

// Restarts find the better of two valleys, although the worse one is wider.
func TestRestarts(t *testing.T) {
	valleys := func(p space.Point) float64 {
		wide, deep := 0.0, -0.5
		for _, x := range p {
			wide += (x - 0.3) * (x - 0.3)
			deep += 40 * (x - 0.8) * (x - 0.8)
		}
		return min(wide, deep)
	}
	problem := Problem{Name: "valleys", Space: Reals(2, 0, 1), Loss: valleys}
	with, without := Best(t, Plugin, problem, "{}", 8, 3000), Best(t, Plugin, problem, `{"restarts": false}`, 8, 3000)
	if t.Logf("%.3f, without %.3f", with, without); with > -0.45 || without < -0.4 {
		t.Errorf("%.3f; without restarts %.3f", with, without)
	}
}

// Weights equal those in Hansen's tutorial, and equal losses share theirs.
func TestWeights(t *testing.T) {
	r := newRates(10, 10)
	if math.Abs(r.mass-3.1673) > 1e-4 || math.Abs(r.weights[0]-0.45627) > 1e-4 || math.Abs(r.many-0.03) > 0.02 {
		t.Errorf("%+v", r)
	}
	shared := r.shared([]float64{1, 1, 2, 3, 3, 3, 4, 5, 6, inf})
	if shared[0] != shared[1] || shared[3] != shared[5] || shared[0] != (r.weights[0]+r.weights[1])/2 ||
		shared[2] != r.weights[2] {
		t.Error(shared)
	}
}

// However narrow the distribution is, a value with steps changes sometimes.
func TestMargin(t *testing.T) {
	sp := Reals(3, 0, 1)
	sp.Params[0].Step, sp.Params[1].Step = 0.1, 0.5
	s := newStrategy(newLayout(sp), declared.Defaults(), 8, []float64{0.02, 0.5, 0.5})
	s.sigma = 1e-6
	s.keepMargin()
	rng := space.NewRand(1)
	var left [2]int
	for range 4000 {
		p := s.draw(rng, 1)
		if p[0] != 0 {
			left[0]++
		}
		if p[1] != 0.5 {
			left[1]++
		}
	}
	want := 4000.0 / 24
	for _, n := range left {
		if math.Abs(float64(n)-want) > 4*math.Sqrt(want) {
			t.Errorf("left %d times of 4000, want about %.0f", n, want)
		}
	}
}

// Missing parameters are drawn from the distribution: correlated with existing ones, with the same
// mean and width.
func TestFill(t *testing.T) {
	s := newStrategy(newLayout(Reals(2, 0, 1)), declared.Defaults(), 8, []float64{0.5, 0.5})
	s.covariance[0][0], s.covariance[1][0], s.covariance[1][1] = 1, 0.8, 1
	s.factorise()
	sum, squares, n := 0.0, 0.0, 3000.0
	for k := range int(n) {
		x := s.newFiller().complete(&step{trial: uint32(k), at: []float64{0.6, nan}})
		sum += x[1]
		squares += x[1] * x[1]
	}
	mean := sum / n
	sd := math.Sqrt(squares/n - mean*mean)
	if math.Abs(mean-0.58) > 0.01 || math.Abs(sd-0.6*s.sigma) > 0.01 {
		t.Errorf("mean %.3f, deviation %.3f", mean, sd)
	}
}

// The position of a stepped value within its cell is unknown and drawn again: the result has the
// original distribution.
func TestFillCells(t *testing.T) {
	sp := Reals(2, 0, 1)
	sp.Params[0].Step = 0.2
	s := newStrategy(newLayout(sp), declared.Defaults(), 8, []float64{0.42, 0.5})
	s.covariance[1][0] = -0.7
	s.factorise()
	rng := space.NewRand(2)
	sum, squares, products, n := 0.0, 0.0, 0.0, 6000.0
	for k := range int(n) {
		u := s.drawNumbers(rng, 1)
		p := space.Point{s.axis(0).Value(u[0]), u[1]}
		x := s.newFiller().complete(&step{trial: uint32(k), at: cube.Of(s.axes, p)})
		if s.axis(0).Value(x[0]) != p[0] {
			t.Fatalf("%v is not in the cell of %v", x[0], p[0])
		}
		a, b := (x[0]-s.mean[0])/s.sigma, (x[1]-s.mean[1])/s.sigma
		sum, squares, products = sum+a, squares+a*a, products+a*b
	}
	if math.Abs(sum/n) > 0.06 || math.Abs(squares/n-1) > 0.08 || math.Abs(products/n+0.7) > 0.06 {
		t.Errorf("mean %.3f, square %.3f, product %.3f", sum/n, squares/n, products/n)
	}
}
