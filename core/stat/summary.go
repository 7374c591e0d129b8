package stat

import (
	"iter"
	"math"
)

// A Summary summarises all reports of one metric. It holds no pointers and can be copied, compared
// with a checkpoint's copy, and written as it is. If Count is zero, all numbers are zero.
type Summary struct {
	First, Last float64 // as reported
	Min, Max    float64 // NaN is ignored
	Mean        float64 // of the finite values
	Mean5       float64 // of the finite values among the last 5 reported
	Mean10      float64 // of the finite values among the last 10 reported
	Count       uint32  // values reported
	Finite      uint32  // of these, finite
}

// A Window holds the last ten values of a metric. It is needed while more values may come; drop it
// when the trial is finished. To undo reports (a trial that restarts from a checkpoint reports its
// iterations again), keep a copy of Summary and Window and continue with the copy.
type Window struct {
	ring  [10]float64
	count uint32
}

// Add adds the next value. w must be the window of all earlier values of s. The cost is constant.
func (s *Summary) Add(w *Window, x float64) {
	w.add(x)
	if s.Count == 0 {
		s.First, s.Min, s.Max, s.Mean = x, x, x, math.NaN()
	}
	s.Count++
	s.Last = x
	if x < s.Min || math.IsNaN(s.Min) {
		s.Min = x
	}
	if x > s.Max || math.IsNaN(s.Max) {
		s.Max = x
	}
	if finite(x) {
		s.Finite++
		s.Mean = runningMean(s.Mean, x, s.Finite)
	}
	s.Mean5 = w.mean(5)
	s.Mean10 = s.Mean5 // of the same values
	if w.count > 5 {
		s.Mean10 = w.mean(10)
	}
}

func (w *Window) add(x float64) {
	w.ring[w.count%10] = x
	w.count++
}

// last are the last k values, or all if there are fewer, in order.
func (w *Window) last(k uint32) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		n := min(k, w.count)
		at := (w.count - n) % uint32(len(w.ring))
		for range n {
			if !yield(w.ring[at]) {
				return
			}
			if at++; at == uint32(len(w.ring)) {
				at = 0
			}
		}
	}
}

// mean returns the mean of the finite values among the last k: the first of them plus the mean
// distance from it, or the running mean if distances overflow.
func (w *Window) mean(k uint32) float64 {
	base, sum, n := math.NaN(), 0.0, uint32(0)
	for x := range w.last(k) {
		if !finite(x) {
			continue
		}
		if n++; n == 1 {
			base = x
		}
		sum = float64(sum + float64(x-base))
	}
	if n > 0 && !finite(sum) {
		return w.slowMean(k)
	}
	return float64(base + float64(sum/float64(max(1, n))))
}

func (w *Window) slowMean(k uint32) float64 {
	mean, n := math.NaN(), uint32(0)
	for x := range w.last(k) {
		if finite(x) {
			n++
			mean = runningMean(mean, x, n)
		}
	}
	return mean
}

// runningMean returns the mean after the n-th value x, given the previous mean. Both are divided
// before the subtraction, because the difference of two large values of opposite sign would
// overflow.
func runningMean(mean, x float64, n uint32) float64 {
	if n == 1 {
		return x
	}
	d := float64(n)
	step := float64(float64(x/d) - float64(mean/d))
	return float64(mean + step)
}

// finite: x-x is NaN for NaN and for infinities.
func finite(x float64) bool { return x-x == 0 }
