// Package portable has mathematical functions for searchers, with the same bits on every machine.
// Those of package math do not guarantee this: some are written in assembly, and compilers may fuse
// x*y+z into one rounding. Here an explicit conversion rounds each product before it is added,
// which prevents this, and only exactly defined operations are used.
//
// It is for the inner loops of the searchers: values are accurate to a few ulp ([Exp]; [Log] except
// near 1, where it is accurate to 3e-16) or to 1e-8 ([CDF]), and arguments are not checked.
package portable

import (
	"math"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

const (
	// ln2Hi has few enough bits that its product with an exponent is exact.
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// parts is the number of table entries of Exp and Log per power of two.
const parts = 64

var (
	powers  [parts]float64     // 2^(i/parts)
	centres [parts + 1]float64 // logarithms of 1 + i/parts
)

func init() {
	for i := range powers {
		powers[i] = slowExp(math.Ln2 * float64(i) / parts)
	}
	for i := range centres {
		centres[i] = slowLog(1 + float64(i)/parts)
	}
}

// slowExp is Taylor's series, for 0 <= x < 1.
func slowExp(x float64) float64 {
	sum := 1.0
	for n := 22.0; n >= 1; n-- {
		sum = 1 + float64(float64(sum*x)/n)
	}
	return sum
}

// slowLog is the series 2(s + s³/3 + s⁵/5 …) in s = (x-1)/(x+1), for 1 <= x <= 2.
func slowLog(x float64) float64 {
	s := (x - 1) / (x + 1)
	s2 := float64(s * s)
	sum := 0.0
	for k := 35; k >= 1; k -= 2 {
		sum = float64(sum*s2) + 1/float64(k)
	}
	return float64(2 * s * sum)
}

const (
	// least and most bound the numbers with an exponential that is neither 0 nor infinite.
	least, most = -700, 709
	// perPart is how many parts of a power of two there are in an exponent of 1. The sum of the others is its inverse.
	perPart        = parts / math.Ln2
	partHi, partLo = ln2Hi / parts, ln2Lo / parts
)

// Exps replaces each number by its exponential, with the same bits as Exp and a few times faster where the processor
// allows it.
func Exps(x []float64) {
	for i := expsOfFour(x); i < len(x); i++ {
		x[i] = Exp(x[i])
	}
}

// Exp returns e^x: 0 below -700, which is small enough for all uses, and +Inf above 709.
func Exp(x float64) float64 {
	switch {
	case x < least:
		return 0
	case x > most:
		return math.Inf(1)
	case x != x:
		return x
	}
	k := math.Floor(float64(x*perPart) + 0.5)
	r := (x - float64(k*partHi)) - float64(k*partLo)
	p := 1.0/24 + float64(r*(1.0/120))
	p = 1.0/6 + float64(r*p)
	p = 0.5 + float64(r*p)
	p = 1 + float64(r*p)
	n := int(k)
	y := powers[n&(parts-1)]
	y += float64(y * float64(r*p))
	return y * math.Float64frombits(uint64(n>>6+1023)<<52)
}

// Log returns the natural logarithm of a positive, finite x.
func Log(x float64) float64 {
	m, e := math.Frexp(x)
	m, e = 2*m, e-1
	i := int((m - 1) * parts)
	c := 1 + float64(i)/parts
	s := (m - c) / (m + c)
	s2 := float64(s * s)
	p := 1.0/5 + float64(s2*(1.0/7))
	p = 1.0/3 + float64(s2*p)
	tail := float64(2*s) + float64(2*s*float64(s2*p))
	return float64(float64(e)*ln2Hi) + (centres[i] + (tail + float64(float64(e)*ln2Lo)))
}

const (
	cells = 32 // per unit of the table of CDF
	edge  = 8  // beyond it CDF is 0 or 1
)

// heights and slopes are the standard normal distribution function and its
// derivative times the width of a cell, from 0 to edge.
var heights, slopes [edge*cells + 1]float64

// tables makes the tables of CDF, which take longer than all the rest of a plugin's initialization.
var tables sync.Once

func makeTables() {
	for i := range heights {
		x := float64(i) / cells
		density := Exp(-x*x/2) / math.Sqrt(2*math.Pi)
		heights[i] = 0.5 + float64(density*series(x))
		slopes[i] = density / cells
	}
}

// series is x + x³/3 + x⁵/(3·5) + …, the normal distribution's excess over one half, divided by its
// density (G. Marsaglia, 2004).
func series(x float64) float64 {
	sum, term := x, x
	for k := 3.0; term > sum*1e-17; k += 2 {
		term = float64(term * x * x / k)
		sum += term
	}
	return sum
}

// CDF returns the standard normal distribution function, within 1e-8.
func CDF(x float64) float64 {
	a := math.Abs(x)
	if !(a < edge) {
		return math.Max(0, math.Copysign(1, x))
	}
	tables.Do(makeTables)
	t := a * cells
	i := int(t)
	t -= float64(i)
	h0, h1, s0, s1 := heights[i], heights[i+1], slopes[i], slopes[i+1]
	d := h1 - h0
	y := float64(t*(float64(3*d)-(2*s0+s1))) + float64(float64(t*t)*((s0+s1)-2*d))
	y = h0 + float64(t*(s0+y))
	if x < 0 {
		return 1 - y
	}
	return y
}

// normal is one standard normal distribution.
var normal = &space.Space{Params: []space.Param{{Kind: space.Normal, SD: 1}}}

// Quantile returns the inverse of the standard normal distribution function, within 8.3 standard
// deviations.
func Quantile(u float64) float64 { return normal.FromUnit(0, u) }
