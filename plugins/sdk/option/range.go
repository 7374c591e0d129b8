package option

import (
	"math"
	"unsafe"
)

// A Range says which numbers are allowed.
type Range struct {
	low, high               float64
	withoutLow, withoutHigh bool
}

// Any contains every number.
func Any() Range { return Range{low: math.Inf(-1), high: math.Inf(1)} }

// From contains low and all greater numbers.
func From(low float64) Range { return Range{low: low, high: math.Inf(1)} }

// Above contains all numbers greater than low.
func Above(low float64) Range { return Range{low: low, high: math.Inf(1), withoutLow: true} }

// To returns the part of the range up to high.
func (r Range) To(high float64) Range {
	r.high, r.withoutHigh = high, false
	return r
}

// Below returns the part of the range below high.
func (r Range) Below(high float64) Range {
	r.high, r.withoutHigh = high, true
	return r
}

func (r Range) has(x float64) bool {
	aboveLow := x > r.low || x == r.low && !r.withoutLow
	return aboveLow && (x < r.high || x == r.high && !r.withoutHigh)
}

// schema returns a function that makes the schema of a type: integer or number.
func (r Range) schema(name string) func() schema {
	return func() schema {
		s := schema{Type: kinds{name}}
		bound(r.low, r.withoutLow, &s.Minimum, &s.ExclusiveMinimum)
		bound(r.high, r.withoutHigh, &s.Maximum, &s.ExclusiveMaximum)
		return s
	}
}

func bound(x float64, without bool, with, exclusive **float64) {
	switch {
	case math.IsInf(x, 0):
	case without:
		*exclusive = &x
	default:
		*with = &x
	}
}

type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// MaxInt is the largest integer of an option: JSON numbers up to it are exact in every language.
const MaxInt = 1 << 53

// wholes returns the part of the range that a T can hold and every language can read.
func wholes[T integer](r Range) Range {
	low, high := limits[T]()
	low, high = max(low, -MaxInt), min(high, MaxInt)
	if r.low < low {
		r.low, r.withoutLow = low, false
	}
	if r.high > high {
		r.high, r.withoutHigh = high, false
	}
	return r
}

func limits[T integer]() (low, high float64) {
	ones := ^T(0)
	if ones > 0 {
		return 0, float64(ones)
	}
	smallest := T(1) << (unsafe.Sizeof(ones)*8 - 1)
	return float64(smallest), float64(^smallest)
}
