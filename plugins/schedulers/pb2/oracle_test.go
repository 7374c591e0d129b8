package pb2

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/evolve/evolvetest"
	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// chooser is a slow second implementation of the bandit: it inverts matrices by elimination, again
// for each exploit. It uses the same random numbers as pb2, so it knows the donor and the values.
// If two values are practically equal, rounding decides which one is better; then it only checks
// that the point lies in the space.
type chooser struct {
	seed        uint64
	interval    float64
	last        map[uint32]evolvetest.Standing
	exploits    map[uint32]uint64
	seen, given []observation

	random, chosen, unsure int
}

// An observation is an interval of a trial: the time of its end, the loss before it, the numbers in
// 0..1, and the decrease of the loss per iteration.
type observation struct {
	trial             uint32
	end, before, fall float64
	units             []float64
}

// numbers are the parameters of schedtest.Mixed that the model chooses.
var numbers = []int{0, 1, 2, 3, 4}

func unitsOf(p space.Point) (u []float64) {
	for _, i := range numbers {
		u = append(u, schedtest.Mixed.ToUnit(i, p[i]))
	}
	return u
}

func (c *chooser) compared(now evolvetest.Standing) {
	before, ok := c.last[now.Trial]
	c.last[now.Trial] = now
	c.given = slices.DeleteFunc(c.given, func(o observation) bool { return o.trial == now.Trial })
	iterations := float64(now.Iteration) - float64(before.Iteration)
	if !ok || math.IsInf(before.Loss, 0) || math.IsInf(now.Loss, 0) || iterations <= 0 {
		return
	}
	c.seen = append(c.seen, observation{now.Trial, float64(now.Iteration), before.Loss,
		(before.Loss - now.Loss) / iterations, unitsOf(now.Point)})
}

func (c *chooser) explored(donors []evolvetest.Standing, got sdk.Command) error {
	c.exploits[got.Trial]++
	rng := space.NewRand(splitMix(splitMix(c.seed+uint64(got.Trial)) + c.exploits[got.Trial]))
	donor := donors[rng.IntN(len(donors))]
	if got.Donor != donor.Trial {
		return fmt.Errorf("trial %d continues from %d, want %d", got.Trial, got.Donor, donor.Trial)
	}
	c.last[got.Trial] = evolvetest.Standing{Iteration: donor.Iteration, Loss: donor.Loss}
	if len(c.seen) < 4 {
		c.random++
		return evolvetest.Changed(schedtest.Mixed, donors, got)
	}
	schedtest.Mixed.Draw(rng)
	for range schedtest.Mixed.Params {
		rng.Float64()
		rng.IntN(2)
	}
	err := c.check(donor, got.Point, rng)
	c.given = append(c.given, observation{trial: got.Trial, end: float64(donor.Iteration) + c.interval,
		before: donor.Loss, units: unitsOf(got.Point)})
	c.given = c.given[max(0, len(c.given)-10):] // drop older ones
	return err
}

func splitMix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// check compares the point with the model's choice; other parameters change as with pbt: without
// resampling the choice stays, and the ordinal moves, unless it is at an end.
func (c *chooser) check(donor evolvetest.Standing, got space.Point, rng *rand.Rand) error {
	if err := schedtest.Mixed.Check(got); err != nil {
		return err
	}
	if got[5] != donor.Point[5] || got[6] == donor.Point[6] && got[6] == 1 {
		return fmt.Errorf("%v after %v", got, donor.Point)
	}
	units, sure := c.best(donor, rng)
	if !sure {
		c.unsure++
		return nil
	}
	c.chosen++
	for k, i := range numbers {
		if want := schedtest.Mixed.FromUnit(i, units[k]); math.Abs(got[i]-want) > 1e-9*max(1, math.Abs(want)) {
			return fmt.Errorf("%s is %v, want %v", schedtest.Mixed.Params[i].Name, got[i], want)
		}
	}
	return nil
}

// best returns the point with the largest bound: of 100 draws and of 60 decreasing moves.
func (c *chooser) best(donor evolvetest.Standing, rng *rand.Rand) (best []float64, sure bool) {
	bound, sure := c.bound(donor)
	best = unitsOf(donor.Point)
	most := bound(best)
	for i := range 160 {
		u := make([]float64, len(best))
		for k := range u {
			u[k] = rng.Float64()
			if i >= 100 {
				u[k] = max(0, min(1, best[k]+float64(160-i)/240*(2*u[k]-1)))
			}
		}
		b := bound(u)
		if sure = sure && math.Abs(b-most) > 1e-9; b > most {
			best, most = u, b
		}
	}
	return best, sure
}

// bound returns the upper confidence bound of the decrease; unsure if two kernels are equally
// likely.
func (c *chooser) bound(donor evolvetest.Standing) (at func([]float64) float64, sure bool) {
	seen := c.seen[max(0, len(c.seen)-60):]
	low, high := math.Inf(1), math.Inf(-1)
	for _, o := range seen {
		low, high = min(low, o.before), max(high, o.before)
	}
	place := func(o observation) []float64 {
		start := 0.5
		if high > low {
			start = max(0, min(1, (o.before-low)/(high-low)))
		}
		return append([]float64{o.end / c.interval, start}, o.units...)
	}
	var x [][]float64
	for _, o := range seen {
		x = append(x, place(o))
	}
	y := falls(seen)
	like, sure := likeliest(x, y)
	weights, _ := solve(covariance(like, x), y)
	all := slices.Clone(x)
	for _, o := range c.given {
		all = append(all, place(o))
	}
	spread := inverse(covariance(like, all))
	kappa := math.Sqrt(0.2 + max(0, math.Log(0.4*float64(len(seen)))))
	return func(u []float64) float64 {
		p := place(observation{end: float64(donor.Iteration) + c.interval, before: donor.Loss, units: u})
		l := likes(like, p, all)
		return dot(l[:len(x)], weights) + kappa*math.Sqrt(max(0, 1-dot(l, times(spread, l))))
	}, sure
}

// falls are scaled to mean 0 and standard deviation 1, unless they are equal, and cut at two.
func falls(seen []observation) []float64 {
	mean, variance, y := 0.0, 0.0, make([]float64, len(seen))
	for _, o := range seen {
		mean += o.fall / float64(len(seen))
	}
	for _, o := range seen {
		variance += (o.fall - mean) * (o.fall - mean) / float64(len(seen))
	}
	for i, o := range seen {
		if variance > 1e-20 {
			y[i] = max(-2, min(2, (o.fall-mean)/math.Sqrt(variance)))
		}
	}
	return y
}

type likeness func(a, b []float64) float64

func likeliest(x [][]float64, y []float64) (best likeness, sure bool) {
	most, second := math.Inf(-1), math.Inf(-1)
	for _, length := range []float64{0.15, 0.4, 1} {
		for _, epsilon := range []float64{0.01, 0.1, 0.3} {
			like := func(a, b []float64) float64 {
				square := 0.0
				for i := 1; i < len(a); i++ {
					square += (a[i] - b[i]) * (a[i] - b[i])
				}
				return math.Exp(-square/(2*length*length)) * math.Pow(1-epsilon, math.Abs(a[0]-b[0])/2)
			}
			weights, determinant := solve(covariance(like, x), y)
			l := -dot(y, weights)/2 - determinant/2
			if second = max(second, min(l, most)); l > most {
				most, best = l, like
			}
		}
	}
	return best, most-second > 1e-9
}

func likes(like likeness, p []float64, x [][]float64) (l []float64) {
	for _, q := range x {
		l = append(l, like(p, q))
	}
	return l
}

func covariance(like likeness, x [][]float64) (k [][]float64) {
	for i := range x {
		k = append(k, likes(like, x[i], x))
		k[i][i] += 0.1
	}
	return k
}

func times(a [][]float64, v []float64) (w []float64) {
	for _, row := range a {
		w = append(w, dot(row, v))
	}
	return w
}

// eliminate solves a x = b for each column of b by Gauss–Jordan elimination; it also returns the
// pivots.
func eliminate(a, b [][]float64) (x [][]float64, pivots []float64) {
	var rows [][]float64
	for i := range a {
		rows = append(rows, slices.Concat(a[i], b[i]))
	}
	for i, row := range rows {
		pivots = append(pivots, row[i])
		for c := len(row) - 1; c >= i; c-- {
			row[c] /= row[i]
		}
		for j, other := range rows {
			if f := other[i]; j != i {
				for c := i; c < len(row); c++ {
					other[c] -= f * row[c]
				}
			}
		}
	}
	for _, row := range rows {
		x = append(x, row[len(a):])
	}
	return x, pivots
}

// solve solves a x = y, and returns the logarithm of a's determinant.
func solve(a [][]float64, y []float64) (x []float64, logDeterminant float64) {
	var b [][]float64
	for _, v := range y {
		b = append(b, []float64{v})
	}
	columns, pivots := eliminate(a, b)
	for i := range columns {
		x = append(x, columns[i][0])
		logDeterminant += math.Log(pivots[i])
	}
	return x, logDeterminant
}

func inverse(a [][]float64) [][]float64 {
	ones := make([][]float64, len(a))
	for i := range ones {
		ones[i] = make([]float64, len(a))
		ones[i][i] = 1
	}
	x, _ := eliminate(a, ones)
	return x
}

// Compares the sources, times and parameters of exploits.
func TestAgainstLookingThroughAll(t *testing.T) {
	random, chosen, unsure := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		// Some simulations are long enough to exceed the limits of kept observations and points.
		sim := schedtest.DrawSim(t, schedtest.Limits{Trials: 24, Length: 40, Failing: 30})
		sim.Limit, sim.Point = rapid.SampledFrom([]int{60, 60, 60, 400}).Draw(t, "limit"), schedtest.MixedPoint
		sim.Workers = rapid.IntRange(2, 24).Draw(t, "workers")
		problem := schedtest.MixedProblem(sim.Trials)
		w := &evolvetest.World{
			Interval: rapid.Uint64Range(1, 3).Draw(t,
				"interval"), Quantile: rapid.SampledFrom([]float64{0.25, 0.5}).Draw(t, "quantile"),
			Periods: []uint64{1}, Sync: rapid.Bool().Draw(t, "sync"), Planned: sim.Trials,
		}
		c := &chooser{seed: problem.Seed, interval: float64(w.Interval), last: map[uint32]evolvetest.Standing{},
			exploits: map[uint32]uint64{}}
		w.Compared, w.Explored = c.compared, c.explored
		options, err := json.Marshal(map[string]any{"interval": w.Interval, "quantile": w.Quantile, "sync": w.Sync,
			"resample": 0})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sim.Run(schedtest.Checked(schedtest.Open(t, Plugin, problem, string(options)),
			w.Check)); err != nil {
			t.Fatal(err)
		}
		random, chosen, unsure = random+c.random, chosen+c.chosen, unsure+c.unsure
	})
	t.Logf("%d moved at random, %d chosen, %d with values as good as equal", random, chosen, unsure)
	if random == 0 || chosen <= unsure {
		t.Error("the model must choose, and mostly for sure")
	}
}
