// Package importance estimates how much each parameter matters, from the trials of an experiment, by
// PED-ANOVA (S. Watanabe, A. Bansal, F. Hutter, PED-ANOVA: Efficiently Quantifying Hyperparameter
// Importance in Arbitrary Subspaces, 2023): a parameter matters as far as its values among the best
// trials are distributed differently from those among all trials. The measure is the Pearson
// divergence of the two densities, each a kernel estimate along the one parameter.
//
// It costs O(trials) for each parameter, treats each parameter by itself, and needs no model of the
// objective. It does not detect parameters that matter only together, nor parameters that the searcher
// hardly varied.
//
// A conditional parameter is judged among the trials that have it. That is what Optuna's evaluator compares within
// each regime of conditions since 2026 (Conditional PED-ANOVA: Hyperparameter Importance in Hierarchical & Dynamic
// Search Spaces, arXiv 2601.20800); whether the parameter exists at all counts as an effect of the choice that it
// depends on. F. Hutter, H. Hoos and K. Leyton-Brown's fANOVA (2014) has no such rule: programs for it fill the gaps
// with default values or leave conditional parameters out. Few of the best trials have such a parameter, so that the
// kernels' width matters most there (bandwidth). bench/RESULTS.md has figures.
package importance

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Trial is a trial with its loss: finite, smaller is better.
type Trial struct {
	Point space.Point
	Loss  float64
}

// cells is how many parts the range of a number is divided into.
const cells = 50

// Shares returns the parameters' shares in what makes the best trials best; their sum is 1, or 0 if
// nothing matters. top is the share of trials that count as the best, in (0, 1).
//
// A conditional parameter is judged among the trials in which it exists, and weighted by their share
// of the best trials.
func Shares(s *space.Space, trials []Trial, top float64) []float64 {
	sorted := slices.SortedStableFunc(slices.Values(trials),
		func(a, b Trial) int { return cmp.Compare(a.Loss, b.Loss) })
	best := sorted[:Best(len(sorted), top)]
	shares := make([]float64, len(s.Params))
	for i := range shares {
		shares[i] = divergence(s, i, best, sorted)
	}
	if sum := floats.Sum(shares); sum > 0 {
		floats.Scale(1/sum, shares)
	}
	return shares
}

// Best returns how many of n trials are the best ones.
func Best(n int, top float64) int { return min(n, int(math.Ceil(top*float64(n)))) }

// divergence compares the densities of parameter i among the best trials and among all.
func divergence(s *space.Space, i int, best, all []Trial) float64 {
	known, good := coordinates(s, i, all), coordinates(s, i, best)
	if count(s, i) < 2 || len(good) == 0 {
		return 0
	}
	p, q := density(s, i, good, known), density(s, i, known, known)
	sum := 0.0
	for k := range q {
		d := p[k]/q[k] - 1
		sum += q[k] * d * d
	}
	return sum * float64(len(good)) / float64(len(best))
}

// coordinates returns the places of parameter i in [0, 1], where it exists.
func coordinates(s *space.Space, i int, trials []Trial) (list []float64) {
	for _, t := range trials {
		if x := t.Point[i]; !math.IsNaN(x) {
			list = append(list, s.ToUnit(i, x))
		}
	}
	return list
}

// density returns the probability of each cell for some of the known values: kernels plus one uniform
// distribution.
func density(s *space.Space, i int, list, known []float64) []float64 {
	n := count(s, i)
	masses := slices.Repeat([]float64{1 / float64(n)}, n)
	if s.Params[i].Kind == space.Choice {
		categorical(masses, list)
	} else {
		numeric(masses, list, bandwidth(list, known, n))
	}
	floats.Scale(1/floats.Sum(masses), masses)
	return masses
}

// count returns the number of cells of a parameter: its number of values, if they are few.
func count(s *space.Space, i int) int {
	if axis, ok := s.Axis(i); ok && axis.Count < cells {
		return int(axis.Count)
	}
	if s.FromUnit(i, 0) == s.FromUnit(i, 1) {
		return 1
	}
	return cells
}

func categorical(masses, list []float64) {
	for _, u := range list {
		masses[cell(len(masses), u)]++
	}
}

func cell(n int, u float64) int { return min(n-1, int(u*float64(n))) }

// many is how many values are taken as they are. More are divided among as many places, each between the two that are
// next to it; places are much closer to each other than a kernel is wide. Kernels of 100,000 values take a second.
const many = 5000

// numeric adds a normal kernel for each value, truncated to the range.
func numeric(masses, list []float64, width float64) {
	if len(list) <= many {
		for _, u := range list {
			kernel(masses, u, width, 1)
		}
		return
	}
	counts := make([]float64, many+1)
	for _, u := range list {
		i := cell(many, u)
		right := u*many - float64(i)
		counts[i], counts[i+1] = counts[i]+1-right, counts[i+1]+right
	}
	for i, n := range counts {
		if n > 0 {
			kernel(masses, float64(i)/many, width, n)
		}
	}
}

// kernel adds the kernel of n equal values.
func kernel(masses []float64, u, width, n float64) {
	at := func(k int) float64 { return math.Erf((float64(k)/float64(len(masses)) - u) / (width * math.Sqrt2)) }
	inside := at(len(masses)) - at(0)
	last := at(0)
	for k := range masses {
		next := at(k + 1)
		masses[k] += n * (next - last) / inside
		last = next
	}
}

// bandwidth is Scott's rule, and large enough to keep most of a kernel within a cell of n.
//
// The spread of the list is estimated together with that of all known values, which counts as one value more (the
// mean of the variances, weighted by their degrees of freedom). One value has no spread of its own and the spread of
// two says little: kernels as narrow as that would be peaks, far from any other density, and a parameter that few of
// the best trials have would seem to be the most important one.
func bandwidth(list, known []float64, n int) float64 {
	own, prior, free := spread(list), spread(known), float64(len(list)-1)
	both := math.Sqrt((free*own*own + prior*prior) / (free + 1))
	return max(1.059*both*math.Pow(float64(len(list)), -0.2), 0.5/1.64/float64(n))
}

// spread is a standard deviation that is robust against outliers.
func spread(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	iqr := quantile(0.75, sorted) - quantile(0.25, sorted)
	return min(deviation(sorted), iqr/1.34)
}

// deviation is the standard deviation of a sample.
func deviation(list []float64) float64 {
	if len(list) < 2 {
		return 0
	}
	mean, sum := floats.Sum(list)/float64(len(list)), 0.0
	for _, x := range list {
		sum += (x - mean) * (x - mean)
	}
	return math.Sqrt(sum / float64(len(list)-1))
}

// quantile interpolates between the values of a sorted list.
func quantile(p float64, sorted []float64) float64 {
	at := max(p*float64(len(sorted))-1, 0)
	i := int(at)
	next := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[next]-sorted[i])
}
