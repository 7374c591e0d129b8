package nsga2

import (
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/pareto"
	"github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

// zdt1 has the front f2 = 1-√f1 where all parameters except the first are at their lower bound (E.
// Zitzler and others, 2000).
func zdt1(p space.Point) []float64 {
	g := 1.0
	for _, x := range p[1:] {
		g += 9 * x / float64(len(p)-1)
	}
	return []float64{p[0], g * (1 - math.Sqrt(p[0]/g))}
}

// zdt3 has a front in five pieces.
func zdt3(p space.Point) []float64 {
	f := zdt1(p)
	g := 1.0
	for _, x := range p[1:] {
		g += 9 * x / float64(len(p)-1)
	}
	return []float64{f[0], (f[1] - f[0]*math.Sin(10*math.Pi*f[0]) + 0.8) / 2} // into the unit square
}

// volume is the mean volume of the unit square that the trials of a few runs dominate.
func volume(t *testing.T, f func(space.Point) []float64, options string, n, parallel int) (mean float64) {
	const runs = 4
	sp := searchtest.Reals(10, 0, 1)
	for run := range runs {
		var points [][]float64
		searchtest.Run(t, searchtest.Open(t, Plugin, sp, options, 2), sp, run, n, parallel,
			func(p space.Point) []float64 {
				losses := f(p)
				points = append(points, []float64{min(1, losses[0]), max(0, min(1, losses[1]))})
				return losses
			})
		mean += pareto.Volume(points) / runs
	}
	return mean
}

// The best values are 0.667 and about 0.64. A population that is never full draws at random; one
// without selection is no better.
func TestFrontQuality(t *testing.T) {
	for name, f := range map[string]func(space.Point) []float64{"zdt1": zdt1, "zdt3": zdt3} {
		got, many := volume(t, f, "{}", 1000, 1), volume(t, f, "{}", 1000, 16)
		random := volume(t, f, `{"population": 2000}`, 1000, 1)
		t.Logf("%s: %.3f, 16 at a time %.3f, random %.3f", name, got, many, random)
		if got < 0.45 || many < 0.4 || random > 0.2 {
			t.Errorf("%s: the front's volume is %.3f, with 16 at a time %.3f, at random %.3f", name, got, many, random)
		}
	}
}

// One objective: the limits lie between the usual result and the result of random points.
func TestConverges(t *testing.T) {
	limits := map[string]float64{"branin": 0.45, "hartmann6": -2.9, "mixed": 0.4, "conditional": 0.12}
	for _, p := range searchtest.Problems() {
		t.Run(p.Name, func(t *testing.T) {
			got := searchtest.Best(t, Plugin, p, "{}", 6, 300)
			random := searchtest.Best(t, Plugin, p, `{"population": 1000}`, 6, 300)
			if t.Logf("%.4f; random %.4f", got, random); got > limits[p.Name] || random < limits[p.Name] {
				t.Errorf("best loss %.4f, random %.4f; want a limit of %.4f between", got, random, limits[p.Name])
			}
		})
	}
}

// Failures and losses that are not finite do not join.
func TestTroubleDoesNotJoin(t *testing.T) {
	s := searchtest.Open(t, Plugin, searchtest.Reals(1, 0, 1), "{}", 2).(*searcher)
	for i, losses := range [][]float64{{1, math.Inf(1)}, {math.NaN(), 1}, nil, {2, 3}} {
		searchtest.Observe(t, s, searchtest.Added(i, space.Point{0.1}), searchtest.Completed(i, losses...))
	}
	searchtest.Observe(t, s, searchtest.Added(9, space.Point{0.9}), sdk.Event{Kind: sdk.TrialFailed, Trial: 9})
	if len(s.population) != 1 || s.population[0].Losses[1] != 3 {
		t.Error(s.population)
	}
}

// Selection keeps the front and drops the points of the others.
func TestSelection(t *testing.T) {
	s := searchtest.Open(t, Plugin, searchtest.Reals(1, 0, 1), `{"population": 4}`, 2).(*searcher)
	for i := range 8 {
		x := float64(i) / 8
		searchtest.Observe(t, s, searchtest.Added(i, space.Point{x}), searchtest.Completed(i, x, 1-x+float64(i%2)*3))
	}
	for _, p := range s.population {
		if p.Trial%2 != 0 {
			t.Errorf("trial %d is dominated and lives", p.Trial)
		}
	}
	if len(s.population) != 4 || len(s.points) != 4 {
		t.Error(len(s.population), len(s.points))
	}
}

// The operators match their definitions: the mean of a child and its mirror image is that of the
// parents, half of the shifts are negative, and few are large.
func TestOperators(t *testing.T) {
	rng := space.NewRand(1)
	down, far := 0, 0
	for range 10_000 {
		u := rng.Float64()
		a, b := blend(0.2, 0.6, u), blend(0.6, 0.2, u)
		if math.Abs(a+b-0.8) > 1e-12 {
			t.Fatal(a, b)
		}
		d := shift(u)
		if want := math.Pow(2*u, 1.0/21) - 1; u < 0.5 && math.Abs(d-want) > 1e-12 {
			t.Fatal(u, d, want)
		}
		if d < 0 {
			down++
		}
		if math.Abs(d) > 0.1 {
			far++
		}
	}
	if down < 4800 || down > 5200 || far < 1000 || far > 1300 { // 0.9²¹ = 0.109
		t.Error(down, far)
	}
}

func TestOptionMessages(t *testing.T) {
	for options, want := range map[string]string{
		`{"population": 3}`:  `option "population" is 3; allowed: a whole number from 4 to 10000`,
		`{"crossover": 1.5}`: `option "crossover" is 1.5; allowed: a number from 0 to 1`,
		`{"mutation": -1}`:   `option "mutation" is -1; allowed: a number from 0 to 1`,
	} {
		if _, _, err := Plugin.Open(sdk.Problem{Space: &space.Space{}}, []byte(options)); err == nil ||
			err.Error() != want {
			t.Errorf("%s: %v", options, err)
		}
	}
}

func TestRetried(t *testing.T) { searchtest.Retried(t, Plugin) }
