package wilcoxon

import (
	"cmp"
	"math"
	"slices"
)

// exact is the number of differences up to which the exact distribution is used.
const exact = 25

// greater returns the probability that chance makes the sum of the ranks of the positive
// differences at least as large as it is. No difference is NaN.
func greater(differences []float64) float64 {
	ranks, sum := ranked(differences)
	if len(ranks) <= exact {
		return tail(ranks, sum)
	}
	return normal(ranks, sum)
}

// ranked returns the ranks of the differences by their absolute values, doubled, so that tied ranks
// are integers, without the zeros, which have the first ranks. sum is the sum for the positive
// differences.
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

// tail returns the share of sign assignments whose sum is at least the given one.
func tail(ranks []int, sum int) float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([]float64, total+1) // assignments with each sum; exact up to 2^25
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

// normal is the approximation by the normal distribution.
func normal(ranks []int, sum int) float64 {
	mean, variance := 0.0, 0.0
	for _, r := range ranks {
		mean += float64(r) / 2
		variance += float64(r) * float64(r) / 4
	}
	return math.Erfc((float64(sum)-mean)/math.Sqrt(2*variance)) / 2
}
