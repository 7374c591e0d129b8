package stat

import "math"

// A Summary summarises all reports of one metric. It holds no pointers and can be copied, compared
// with a checkpoint's copy, and written as it is. If Count is zero, all numbers are zero.
type Summary struct {
	First, Last float64 // as reported
	Min, Max    float64 // of the finite values; while there is none, of the infinite ones, or NaN
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
	ring  [windowValues]float64
	count uint32
}

const windowValues = 10

// Add adds the next value. w must be the window of all earlier values of s. The cost is constant.
func (s *Summary) Add(w *Window, x float64) {
	w.add(x)
	if s.Count == 0 {
		s.First, s.Min, s.Max, s.Mean = x, x, x, math.NaN()
	}
	s.Count++
	s.Last = x
	if first := finite(x) && s.Finite == 0; finite(x) || s.Finite == 0 {
		if first || x < s.Min || math.IsNaN(s.Min) {
			s.Min = x
		}
		if first || x > s.Max || math.IsNaN(s.Max) {
			s.Max = x
		}
	}
	if finite(x) {
		s.Finite++
		s.Mean = runningMean(s.Mean, x, s.Finite)
	}
	var room [windowValues]float64
	last := w.values(&room)
	s.Mean10 = mean(last)
	s.Mean5 = s.Mean10 // of the same values
	if n := len(last); n > 5 {
		s.Mean5 = mean(last[n-5:])
	}
}

func (w *Window) add(x float64) {
	w.ring[w.count%windowValues] = x
	w.count++
}

// values returns the values in order, in room where the ring does not begin with the first.
func (w *Window) values(room *[windowValues]float64) []float64 {
	if w.count <= windowValues {
		return w.ring[:w.count]
	}
	at := w.count % windowValues
	n := copy(room[:], w.ring[at:])
	copy(room[n:], w.ring[:at])
	return room[:]
}

// mean returns the mean of the finite values: the first of them plus the mean distance from it. values is not empty.
func mean(values []float64) float64 {
	base, sum := values[0], 0.0
	for _, x := range values {
		sum = float64(sum + float64(x-base))
	}
	if !finite(sum) {
		return meanOfFinite(values)
	}
	return float64(base + float64(sum/float64(len(values))))
}

// meanOfFinite is mean where some values are not finite, or the distances overflow: then it is the running mean.
func meanOfFinite(values []float64) float64 {
	base, sum, n := math.NaN(), 0.0, uint32(0)
	for _, x := range values {
		if !finite(x) {
			continue
		}
		if n++; n == 1 {
			base = x
		}
		sum = float64(sum + float64(x-base))
	}
	if n > 0 && !finite(sum) {
		return slowMean(values)
	}
	return float64(base + float64(sum/float64(max(1, n))))
}

// Average returns the mean of values: their sum divided by their number, or the running mean where the sum of finite
// values overflows. NaN for none.
func Average(values []float64) float64 {
	sum, all := 0.0, true
	for _, x := range values {
		sum, all = float64(sum+x), all && finite(x)
	}
	if all && !finite(sum) {
		return slowMean(values)
	}
	return float64(sum / float64(len(values)))
}

func slowMean(values []float64) float64 {
	mean, n := math.NaN(), uint32(0)
	for _, x := range values {
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
