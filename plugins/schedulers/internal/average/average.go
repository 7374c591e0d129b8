// Package average computes means of losses whose sum may overflow.
package average

import "math"

// A Mean is the mean of the losses added so far. A loss may be +Inf, and then so is the mean. The mean of finite losses
// is finite. The zero value has none.
type Mean struct {
	sum, running float64
	count        float64
}

// Add adds a loss, which is not NaN.
func (m *Mean) Add(loss float64) {
	m.count++
	m.sum += loss
	// Both are divided first: the difference of two large losses would overflow.
	if m.count == 1 || math.IsInf(loss, 1) {
		m.running = loss
	} else if !math.IsInf(m.running, 1) {
		m.running += float64(loss/m.count) - float64(m.running/m.count)
	}
}

// Value returns the mean: the sum divided by the number, or the running mean where the sum overflows. NaN for none.
func (m *Mean) Value() float64 {
	if sum := m.sum; sum-sum == 0 {
		return sum / m.count
	}
	return m.running
}
