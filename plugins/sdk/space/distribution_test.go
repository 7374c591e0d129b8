package space

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const draws = 20_000

// column draws many values of one parameter.
func column(t *testing.T, p Param) []float64 {
	p.Name = "x"
	s, rng := mustValidate(t, &Space{Params: []Param{p}}), NewRand(7)
	values := make([]float64, draws)
	for i := range values {
		values[i] = s.Draw(rng)[0]
	}
	return values
}

// fits tests by chi-square that the values are equally frequent.
func fits(t *testing.T, p Param, shares map[float64]float64) {
	t.Helper()
	counts := map[float64]float64{}
	for _, x := range column(t, p) {
		counts[x]++
	}
	var seen, expected []float64
	for x, share := range shares {
		seen, expected = append(seen, counts[x]), append(expected, share*draws)
		delete(counts, x)
	}
	if len(counts) > 0 {
		t.Errorf("values that are not expected: %v", counts)
	}
	chance := distuv.ChiSquared{K: float64(len(seen) - 1)}.Survival(stat.ChiSquare(seen, expected))
	if chance < 1e-4 {
		t.Errorf("counts %v instead of %v: chance %g", seen, expected, chance)
	}
}

// follows tests by Kolmogorov and Smirnov that values have a distribution function.
func follows(t *testing.T, p Param, cdf func(x float64) float64) {
	t.Helper()
	values := column(t, p)
	slices.Sort(values)
	d := 0.0
	for i, x := range values {
		d = math.Max(d, math.Max(math.Abs(cdf(x)-float64(i)/draws), math.Abs(cdf(x)-float64(i+1)/draws)))
	}
	if d*math.Sqrt(draws) > 1.95 { // chance 0.001
		t.Errorf("the largest distance is %g", d)
	}
}

func equal(values ...float64) map[float64]float64 {
	shares := map[float64]float64{}
	for _, x := range values {
		shares[x] = 1 / float64(len(values))
	}
	return shares
}

// logCells gives each value v the mass of [v-step/2, v+step/2] on the log scale.
func logCells(step float64, values ...float64) map[float64]float64 {
	shares, total := map[float64]float64{}, 0.0
	for _, x := range values {
		shares[x] = math.Log((x + step/2) / (x - step/2))
		total += shares[x]
	}
	for x := range shares {
		shares[x] /= total
	}
	return shares
}

func TestMasses(t *testing.T) {
	for name, c := range map[string]struct {
		p      Param
		shares map[float64]float64
	}{
		"int":            {Param{Kind: Int, Low: -2, High: 3}, equal(-2, -1, 0, 1, 2, 3)},
		"int step":       {Param{Kind: Int, Low: 1, High: 10, Step: 3}, equal(3, 6, 9)},
		"step":           {Param{Kind: Real, Low: 0.1, High: 0.75, Step: 0.3}, equal(0.3, 0.6)},
		"step as people": {Param{Kind: Real, Low: 0.1, High: 0.7, Step: 0.1}, equal(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)},
		"log int":        {Param{Kind: Int, Low: 1, High: 6, Log: true}, logCells(1, 1, 2, 3, 4, 5, 6)},
		"log int step":   {Param{Kind: Int, Low: 4, High: 33, Step: 8, Log: true}, logCells(8, 8, 16, 24, 32)},
		"log step": {Param{Kind: Real, Low: 0.1, High: 0.5, Step: 0.1, Log: true},
			logCells(0.1, 0.1, 0.2, 0.3, 0.4, 0.5)},
		"choice":  {Param{Kind: Choice, Choices: raws("1", "2", "3")}, equal(0, 1, 2)},
		"ordinal": {Param{Kind: Ordinal, Choices: raws("1", "2")}, equal(0, 1)},
		"single":  {Param{Kind: Int, Low: 5, High: 5}, map[float64]float64{5: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if len(c.shares) == 1 {
				if values := column(t, c.p); slices.Min(values) != slices.Max(values) {
					t.Error("more than one value")
				}
				return
			}
			fits(t, c.p, c.shares)
		})
	}
}

func TestContinua(t *testing.T) {
	follows(t, Param{Kind: Real, Low: -3, High: 5}, distuv.Uniform{Min: -3, Max: 5}.CDF)
	follows(t, Param{Kind: Real, Low: 1e-5, High: 10, Log: true},
		func(x float64) float64 { return math.Log10(x*1e5) / 6 })
	follows(t, Param{Kind: Normal, Mean: 4, SD: 2}, distuv.Normal{Mu: 4, Sigma: 2}.CDF)
	low := logOf(math.SmallestNonzeroFloat64)
	follows(t, Param{Kind: Real, Low: math.SmallestNonzeroFloat64, High: 1, Log: true},
		func(x float64) float64 { return 1 - logOf(x)/low })
}

func TestNormalStepMass(t *testing.T) {
	normal, shares := distuv.Normal{Mu: 1, Sigma: 0.4}, map[float64]float64{}
	for x := -1.0; x <= 3; x++ {
		shares[x] = normal.CDF(x+0.5) - normal.CDF(x-0.5)
	}
	fits(t, Param{Kind: Normal, Mean: 1, SD: 0.4, Step: 1}, shares)
}
