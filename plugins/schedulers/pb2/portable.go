package pb2

import "math"

// These functions give the same bits on every machine, unlike those of package math: products are
// rounded before they are added.

// decay returns e^-x of a non-negative x.
func decay(x float64) float64 {
	if x > 700 {
		return 0
	}
	halvings := 0
	for ; x > 0.5; halvings++ {
		x /= 2
	}
	sum := 1.0
	for k := 14.0; k > 0; k-- {
		sum = 1 - float64(x*sum)/k
	}
	for range halvings {
		sum *= sum
	}
	return sum
}

// ln returns the natural logarithm of a positive, finite x.
func ln(x float64) float64 {
	m, e := math.Frexp(x)
	s := (m - 1) / (m + 1) // in -1/3..0
	square, sum := float64(s*s), 0.0
	for k := 39.0; k > 0; k -= 2 {
		sum = 1/k + float64(square*sum)
	}
	return float64(float64(e)*math.Ln2) + float64(2*s*sum)
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}
