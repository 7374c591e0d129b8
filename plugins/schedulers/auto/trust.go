package auto

import "math"

const (
	// prior is the ρ that is assumed before any trial has ended, and weight the number of trials
	// that this assumption is worth.
	prior, weight = 0.85, 4
	// sigmas is the number of standard errors from the estimate to its bound.
	sigmas = 1.25
	// widest limits the correction for the selection of trials.
	widest = 6
	// least is the share of trials that always goes on; below weak all go on.
	least, weak = 0.4, 0.3
	// few is a number of trials whose order says nothing.
	few = 3
)

// trust is how well the losses at a rung order the final ones.
type trust struct {
	rho    float64 // Spearman's, of all trials that reach the rung
	bound  float64 // what it is at least, probably; at most rho
	trials int     // from which it is known
}

// kept returns the share of the trials that goes on.
func (t trust) kept() float64 {
	if t.bound < weak {
		return 1
	}
	return max(least, 1-t.bound)
}

// trust weighs what is known with the assumption.
func (r *rung) trust() trust {
	t := trust{trials: len(r.pairs)}
	known := 0.0
	if t.trials > few {
		wider := r.restriction()
		t.rho = widen(spearman(r.pairs), wider)
		known = float64(t.trials-few) / wider
	}
	mean := (weight*prior + float64(known*t.rho)) / (weight + known)
	spread := (1 - float64(mean*mean)) / math.Sqrt(weight+known)
	t.bound = mean - float64(sigmas*spread)
	if known > 0 { // the assumption makes it no larger than what was seen
		t.bound = min(t.bound, t.rho)
	}
	return t
}

// widen returns the correlation among all trials, given that among trials that were selected by
// their early values; wider is the ratio of the variances of these.
func widen(rho, wider float64) float64 {
	return rho * math.Sqrt(wider) / math.Sqrt(1+float64(float64(rho*rho)*(wider-1)))
}

// restriction returns the variance of the places of all trials at the rung, divided by that of the
// trials whose final loss is known, in 1..widest.
func (r *rung) restriction() float64 {
	var all, known moments
	for _, p := range r.pairs {
		known.add(int64(r.place(p.early)))
	}
	for first, after := range ties(len(r.sorted), func(i, j int) bool { return r.sorted[i] == r.sorted[j] }) {
		for range after - first {
			all.add(int64(first + after))
		}
	}
	if known.variance() == 0 {
		return 1
	}
	return min(widest, max(1, all.variance()/known.variance()))
}

// moments are sums of whole numbers, which are exact in any order.
type moments struct{ n, sum, squares int64 }

func (m *moments) add(x int64) { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }

func (m *moments) variance() float64 {
	return float64(m.n*m.squares-m.sum*m.sum) / float64(m.n*m.n)
}

// spearman returns the rank correlation of early and final losses, 0 if either are all equal.
func spearman(pairs []pair) float64 {
	early, final := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, p := range pairs {
		early[i], final[i] = p.early, p.final
	}
	a, b := ranks(early), ranks(final)
	var aa, bb, ab int64
	for i := range a {
		x, y := int64(a[i]-len(a)), int64(b[i]-len(b)) // the mean of twice the ranks is their number
		aa, bb, ab = aa+x*x, bb+y*y, ab+x*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(ab) / math.Sqrt(float64(float64(aa)*float64(bb)))
}
