package wilcoxon

import (
	"cmp"
	"math"
	"slices"
)

// exact is up to how many differences the exact distribution is used.
const exact = 25

// greater is the probability that chance makes the sum of the ranks of the
// differences above zero as large as it is, or larger. No difference is NaN.
func greater(differences []float64) float64 {
	ranks, sum := ranked(differences)
	if len(ranks) <= exact {
		return tail(ranks, sum)
	}
	return normal(ranks, sum)
}

// ranked are the ranks of the differences by their sizes, doubled, so that those of
// ties are whole: without the zeros, which have the first ranks. sum is that of the
// differences above zero.
func ranked(differences []float64) (ranks []int, sum int) {
	sorted := slices.Clone(differences)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && math.Abs(sorted[j]) == math.Abs(sorted[i]) {
			j++
		}
		for _, d := range sorted[i:j] {
			switch rank := i + j + 1; {
			case d > 0:
				ranks, sum = append(ranks, rank), sum+rank
			case d < 0:
				ranks = append(ranks, rank)
			}
		}
		i = j
	}
	return ranks, sum
}

// tail counts the choices of signs whose sum is at least the given one.
func tail(ranks []int, sum int) float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([]float64, total+1) // choices with each sum; whole up to 2^25
	ways[0] = 1
	for _, r := range ranks {
		for s := total; s >= r; s-- {
			ways[s] += ways[s-r]
		}
	}
	n := 0.0
	for _, w := range ways[sum:] {
		n += w
	}
	return math.Ldexp(n, -len(ranks))
}

// normal is the same by the normal distribution.
func normal(ranks []int, sum int) float64 {
	mean, variance := 0.0, 0.0
	for _, r := range ranks {
		mean += float64(r) / 2
		variance += float64(r) * float64(r) / 4
	}
	return math.Erfc((float64(sum)-mean)/math.Sqrt(2*variance)) / 2
}
