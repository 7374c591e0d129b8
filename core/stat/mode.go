package stat

import (
	"cmp"
	"errors"
	"math"
	"strconv"
)

// Mode is the direction of an objective.
type Mode uint8

const (
	Min Mode = iota // smaller is better
	Max             // larger is better
)

// String returns the name in experiment files.
func (m Mode) String() string {
	switch m {
	case Min:
		return "min"
	case Max:
		return "max"
	}
	return "mode(" + strconv.Itoa(int(m)) + ")"
}

// ParseMode reads "min" or "max".
func ParseMode(text string) (Mode, error) {
	switch text {
	case "min":
		return Min, nil
	case "max":
		return Max, nil
	}
	return 0, errors.New("mode " + strconv.QuoteToASCII(text[:min(len(text), 40)]) + " is unknown; use min or max")
}

// MarshalText writes the name.
func (m Mode) MarshalText() ([]byte, error) {
	if m > Max {
		return nil, errors.New(m.String() + " is unknown; use min or max")
	}
	return []byte(m.String()), nil
}

// UnmarshalText reads the name.
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMode(string(text))
	return err
}

// Better reports whether a is strictly better than b.
func Better(a, b float64, m Mode) bool { return Compare(a, b, m) < 0 }

// Compare orders metric values, best first, for slices.SortStableFunc and similar functions. It
// returns a negative number if a is better than b, and zero if neither is better. It is a total
// order: finite values in the mode's direction, then infinities in the same direction, then NaN. So
// -Inf is never the best value of a minimum. -0 equals 0.
func Compare(a, b float64, m Mode) int {
	if c := cmp.Compare(kind(a), kind(b)); c != 0 {
		return c
	}
	if m == Max {
		a, b = b, a
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// kind returns 0 for finite values, 1 for infinities, 2 for NaN.
func kind(x float64) int {
	switch {
	case math.IsNaN(x):
		return 2
	case math.IsInf(x, 0):
		return 1
	}
	return 0
}
