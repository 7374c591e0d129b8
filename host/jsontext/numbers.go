package jsontext

import "math"

// Numbers appends numbers and remembers the last ones, for several texts with the same numbers. The shortest text
// that stands for a float64 takes much longer than a copy of it. Its zero value is ready to use.
type Numbers struct {
	last [16]remembered
}

// remembered is a number with its text, or nothing if there is no text.
type remembered struct {
	bits uint64
	size int
	text [longest]byte
}

// longest is more than any text of a number takes, such as -0.0000012345678901234567.
const longest = 32

// AppendNumber is the package's AppendNumber.
func (n *Numbers) AppendNumber(b []byte, x float64) []byte {
	const fibonacci = 0x9e3779b97f4a7c15 // spreads similar numbers over the places
	bits := math.Float64bits(x)
	m := &n.last[bits*fibonacci>>60]
	if m.size == 0 || m.bits != bits {
		m.bits, m.size = bits, len(AppendNumber(m.text[:0], x))
	}
	return append(b, m.text[:m.size]...)
}

// AppendFloat is the package's AppendFloat.
func (n *Numbers) AppendFloat(b []byte, x float64) []byte {
	if x-x != 0 {
		return AppendFloat(b, x)
	}
	return n.AppendNumber(b, x)
}
