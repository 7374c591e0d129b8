// Package jsontext appends JSON to buffers without reflection, for reporters
// that write thousands of lines a second. NaN and infinities are the strings
// "NaN", "Infinity" and "-Infinity".
package jsontext

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// maxExact limits the integers that a float64 represents exactly.
const maxExact = 1 << 53

// AppendFloat appends x as a JSON number, or as a string if JSON has no such number.
func AppendFloat(b []byte, x float64) []byte {
	if x-x != 0 {
		b = append(b, '"')
		b = AppendNumber(b, x)
		return append(b, '"')
	}
	return AppendNumber(b, x)
}

// AppendNumber is AppendFloat without quotes around NaN and infinities.
func AppendNumber(b []byte, x float64) []byte {
	abs := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return append(b, "NaN"...)
	case math.IsInf(x, 1):
		return append(b, "Infinity"...)
	case math.IsInf(x, -1):
		return append(b, "-Infinity"...)
	case abs < maxExact && x == math.Trunc(x) && !(x == 0 && math.Signbit(x)):
		return strconv.AppendInt(b, int64(x), 10)
	case x != 0 && (abs < 1e-6 || abs >= 1e21):
		return strconv.AppendFloat(b, x, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, x, 'f', -1, 64)
}

// AppendString appends s as a JSON string. Invalid UTF-8 is replaced.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if plain(r, n) {
			i += n
			continue
		}
		b = append(b, s[start:i]...)
		b = escape(b, r)
		i += n
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// plain reports whether a rune of n bytes needs no escape. Unicode's line separators do: readers that
// split lines may split there.
func plain(r rune, n int) bool {
	switch {
	case r == utf8.RuneError && n == 1, r == '\u0085', r == '\u2028', r == '\u2029':
		return false
	}
	return r >= ' ' && r != '"' && r != '\\' && r != 0x7f
}

const hex = "0123456789abcdef"

func escape(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, '\\', 'n')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
