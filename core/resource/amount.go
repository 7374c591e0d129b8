package resource

import (
	"cmp"
	"errors"
	"math/bits"
	"strconv"
)

const (
	micro = 1_000_000 // millionths in one
	// MaxWhole is the largest amount, in whole units, of a request or of the sum of all nodes:
	// 2^60, an exbibyte if the unit is a byte.
	MaxWhole = 1 << 60
)

// An Amount is an exact, non-negative number of millionths. The zero value is zero; use == to
// compare.
type Amount struct{ hi, lo uint64 }

// Whole returns n units: CPUs, devices, bytes.
func Whole(n uint64) Amount { return Amount{lo: n}.times(micro) }

// IsZero reports whether a is zero.
func (a Amount) IsZero() bool { return a == Amount{} }

// Cmp returns a negative number if a is less than b, zero if they are equal, else a positive
// number.
func (a Amount) Cmp(b Amount) int {
	return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo))
}

// less is Cmp < 0 in a form that can be inlined; placement mostly compares.
func (a Amount) less(b Amount) bool {
	_, borrow := bits.Sub64(a.lo, b.lo, 0)
	_, borrow = bits.Sub64(a.hi, b.hi, borrow)
	return borrow != 0
}

// Add returns a + b. Sums of amounts up to MaxWhole cannot overflow.
func (a Amount) Add(b Amount) Amount {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, carry := bits.Add64(a.hi, b.hi, carry)
	if carry != 0 {
		panic("resource: a sum of amounts overflowed")
	}
	return Amount{hi, lo}
}

// Sub returns a - b. It panics if b is greater than a, because amounts are never negative.
func (a Amount) Sub(b Amount) Amount {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, borrow := bits.Sub64(a.hi, b.hi, borrow)
	if borrow != 0 {
		panic("resource: an amount became negative")
	}
	return Amount{hi, lo}
}

// times returns a * k, which must not overflow.
func (a Amount) times(k uint64) Amount {
	p, ok := a.mul(k)
	if !ok {
		panic("resource: a product of amounts overflowed")
	}
	return p
}

func (a Amount) mul(k uint64) (Amount, bool) {
	carry, lo := bits.Mul64(a.lo, k)
	over, hi := bits.Mul64(a.hi, k)
	hi, c := bits.Add64(hi, carry, 0)
	return Amount{hi, lo}, over == 0 && c == 0
}

// div returns a / k and the remainder.
func (a Amount) div(k uint64) (Amount, uint64) {
	hi, r := a.hi/k, a.hi%k
	lo, r := bits.Div64(r, a.lo, k)
	return Amount{hi, lo}, r
}

func (a Amount) shr(s uint) Amount {
	if s >= 64 {
		return Amount{lo: a.hi >> (s - 64)}
	}
	return Amount{a.hi >> s, a.lo>>s | a.hi<<(64-s)}
}

func (a Amount) bitLen() int {
	if a.hi != 0 {
		return 64 + bits.Len64(a.hi)
	}
	return bits.Len64(a.lo)
}

// goesInto returns how often a, which is not zero, fits in b, at most 2^64-1.
func (a Amount) goesInto(b Amount) uint64 {
	switch {
	case a.hi == 0 && b.hi == 0:
		return b.lo / a.lo
	case a.hi == 0 && b.hi >= a.lo:
		return ^uint64(0)
	case a.hi == 0:
		q, _ := bits.Div64(b.hi, b.lo, a.lo)
		return q
	}
	// Both exceed 64 bits: divide the leading 64 bits of a into b. The
	// quotient is right or one too large (Hacker's Delight, 9-5).
	s := uint(bits.Len64(a.hi))
	top := b.shr(s)
	q, _ := bits.Div64(top.hi, top.lo, a.shr(s).lo)
	if p, ok := a.mul(q); !ok || b.less(p) {
		q--
	}
	return q
}

// ofWhole returns a / all in 65536ths; a is at most all. It only ranks nodes, so 47 leading bits
// are enough.
func (a Amount) ofWhole(all Amount) uint32 {
	if all.IsZero() {
		return 0
	}
	s := uint(max(0, all.bitLen()-47))
	return uint32(a.shr(s).lo << 16 / all.shr(s).lo)
}

// String returns the shortest exact decimal: "1", "0.33".
func (a Amount) String() string {
	if a.hi >= micro {
		panic("resource: an amount beyond 2^64 has no text")
	}
	whole, part := bits.Div64(a.hi, a.lo, micro)
	text := strconv.AppendUint(nil, whole, 10)
	if part == 0 {
		return string(text)
	}
	text = append(text, '.')
	for unit := uint64(micro / 10); part > 0; unit /= 10 {
		text = append(text, byte('0'+part/unit))
		part %= unit
	}
	return string(text)
}

type suffix struct {
	text string
	unit uint64
}

// The first of equally short suffixes is written; all can be read.
var suffixes = []suffix{
	{"PiB", 1 << 50}, {"PB", 1e15}, {"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9},
	{"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}, {"", 1},
	{"KB", 1e3}, {"B", 1}, {"Pi", 1 << 50}, {"Ti", 1 << 40}, {"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10},
	{"P", 1e15}, {"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"K", 1e3},
}

const writtenSuffixes = 11

// Bytes returns the shortest exact text with a unit of bytes: "4GiB", "1.5GiB", "1GB",
// "4294967297". ParseAmount reads it back unchanged.
func (a Amount) Bytes() string {
	best := ""
	for _, s := range suffixes[:writtenSuffixes] {
		n, rest := a.div(s.unit)
		if rest != 0 || n.less(Whole(1)) && s.unit > 1 {
			continue
		}
		if text := n.String() + s.text; best == "" || len(text) < len(best) {
			best = text
		}
	}
	return best
}

// Errors of ParseAmount, wrapped with the given text.
var (
	ErrNotANumber = errors.New("not a number; write 2, 0.5, 1e3, 512MiB, 4GiB or 10k")
	ErrNegative   = errors.New("an amount cannot be negative")
	ErrTooFine    = errors.New("finer than 0.000001, the smallest step of an amount")
	ErrTooBig     = errors.New("too big; the largest amount is 2^60")
	ErrTooLong    = errors.New("more digits than an amount can have")
)

type amountError struct {
	text string
	err  error
}

func (e *amountError) Error() string { return "amount " + strconv.Quote(e.text) + ": " + e.err.Error() }
func (e *amountError) Unwrap() error { return e.err }

// ParseAmount reads a decimal exactly: digits with a point or an exponent, and
// a unit of bytes or of thousands: 0.33, 1e3, 4GiB, 512MiB, 1GB, 10k.
func ParseAmount(text string) (Amount, error) {
	a, err := parseAmount(text)
	if err != nil {
		return Amount{}, &amountError{clip(text), err}
	}
	return a, nil
}

func parseAmount(text string) (Amount, error) {
	if len(text) > 1 && text[0] == '-' && (isDigit(text[1]) || text[1] == '.') {
		return Amount{}, ErrNegative
	}
	d, rest, err := scanDecimal(text)
	if err != nil {
		return Amount{}, err
	}
	unit, ok := unitOf(rest)
	if !ok {
		return Amount{}, ErrNotANumber
	}
	return d.amount(unit)
}

// unitOf allows one space before the suffix: "4 GiB".
func unitOf(rest string) (uint64, bool) {
	if len(rest) > 1 && rest[0] == ' ' {
		rest = rest[1:]
	}
	for _, s := range suffixes {
		if s.text == rest {
			return s.unit, true
		}
	}
	return 0, false
}

// A decimal is digits * 10^exp.
type decimal struct {
	digits Amount // a plain 128-bit integer
	exp    int
}

func (d decimal) amount(unit uint64) (Amount, error) {
	n, ok := d.digits.mul(unit)
	exp := d.exp + 6
	for ; ok && exp > 0 && !n.IsZero(); exp-- {
		n, ok = n.mul(10)
	}
	var rest uint64
	for ; exp < 0 && !n.IsZero() && rest == 0; exp++ {
		n, rest = n.div(10)
	}
	switch {
	case rest != 0:
		return Amount{}, ErrTooFine
	case !ok || Whole(MaxWhole).less(n):
		return Amount{}, ErrTooBig
	}
	return n, nil
}

// scanDecimal reads digits, a point, digits and an exponent, and returns the rest.
func scanDecimal(text string) (d decimal, rest string, err error) {
	i, seen, point := 0, 0, false
	for ; i < len(text) && (isDigit(text[i]) || text[i] == '.' && !point); i++ {
		if text[i] == '.' {
			point = true
			continue
		}
		if d.digits.hi >= 1<<59 { // 37 digits: another one could overflow
			return d, "", ErrTooLong
		}
		d.digits = d.digits.times(10).Add(Amount{lo: uint64(text[i] - '0')})
		seen++
		if point {
			d.exp--
		}
	}
	if seen == 0 {
		return d, "", ErrNotANumber
	}
	exp, n := scanExponent(text[i:])
	d.exp += exp
	return d, text[i+n:], nil
}

// scanExponent reads "e3" or "E-2" and returns the number of bytes read; three digits exceed any
// amount.
func scanExponent(text string) (exp, n int) {
	if len(text) < 2 || text[0] != 'e' && text[0] != 'E' {
		return 0, 0
	}
	end := 1
	if text[1] == '-' || text[1] == '+' {
		end = 2
	}
	for start := end; end < len(text) && end-start < 3 && isDigit(text[end]); {
		end++
	}
	exp, err := strconv.Atoi(text[1:end])
	if err != nil {
		return 0, 0
	}
	return exp, end
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// clip keeps messages on one line of reasonable length.
func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}

// MarshalText writes String.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what ParseAmount reads.
func (a *Amount) UnmarshalText(text []byte) (err error) {
	*a, err = ParseAmount(string(text))
	return err
}

// MarshalJSON writes a JSON number with all its digits.
func (a Amount) MarshalJSON() ([]byte, error) { return a.MarshalText() }

// UnmarshalJSON reads a JSON number exactly, or a string with a unit.
func (a *Amount) UnmarshalJSON(text []byte) error {
	if n := len(text); n > 1 && text[0] == '"' {
		text = text[1 : n-1]
	}
	return a.UnmarshalText(text)
}
