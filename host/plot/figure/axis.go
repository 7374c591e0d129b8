package figure

import (
	"math"
	"strconv"
	"strings"
)

// Axis is a direction of a panel.
type Axis struct {
	Label string
	// Log says that the scale is logarithmic; Low and High are then above 0.
	Log       bool
	Low, High float64
	// Names are those of the values 0, 1, 2, …; nil unless the values are categories.
	Names []string
	// Whole says that only whole numbers have ticks.
	Whole bool
	// Reversed says that Low is at the right or at the top.
	Reversed bool
	// Hidden says that neither ticks nor a label are drawn.
	Hidden bool
}

// Tick is a value with its text.
type Tick struct {
	Value float64
	Text  string
}

// At returns the place of a value: 0 for Low, 1 for High.
func (a *Axis) At(v float64) float64 {
	low, high := a.Low, a.High
	if a.Log {
		v, low, high = ln(v), ln(low), ln(high)
	}
	if math.IsInf(high-low, 0) { // halves: the difference of two numbers may be too large
		v, low, high = v/2, low/2, high/2
	}
	at := (v - low) / (high - low)
	if a.Reversed {
		return 1 - at
	}
	return at
}

// ln is the logarithm: that of package math is wrong for the tiniest numbers on some machines.
func ln(v float64) float64 {
	m, e := math.Frexp(v)
	return math.Log(m) + float64(e)*math.Ln2
}

// Value returns the value at a place.
func (a *Axis) Value(at float64) float64 {
	if a.Reversed {
		at = 1 - at
	}
	if a.Log {
		return min(math.Pow(a.Low, 1-at)*math.Pow(a.High, at), math.MaxFloat64)
	}
	if d := a.High - a.Low; !math.IsInf(d, 0) {
		return a.Low + at*d
	}
	return 2 * (a.Low/2 + at*(a.High/2-a.Low/2))
}

// Fit makes the axis hold all finite values, with a little room.
func (a *Axis) Fit(values ...float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) && (!a.Log || v > 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		low, high = 1, 1
	}
	a.Low, a.High = widened(low, high, a.Log)
}

// margin is the share of the axis that is free on each side.
const margin = 0.04

func widened(low, high float64, log bool) (float64, float64) {
	if log {
		f := 2.0
		if high/low >= 1.01 {
			f = math.Exp((ln(high) - ln(low)) * margin)
		}
		return max(low/f, math.SmallestNonzeroFloat64), min(high*f, math.MaxFloat64)
	}
	d := high*margin - low*margin
	if d == 0 || low+d == low {
		d = max(max(math.Abs(low), math.Abs(high))*0.1, math.SmallestNonzeroFloat64)
	}
	if low == 0 && high == 0 {
		d = 1
	}
	return max(low-d, -math.MaxFloat64), min(high+d, math.MaxFloat64)
}

// Categories makes an axis of names.
func Categories(label string, names []string) Axis {
	return Axis{Label: label, Names: names, Low: -0.5, High: float64(len(names)) - 0.5}
}

// Ticks returns about so many ticks at round values.
func (a *Axis) Ticks(most int) []Tick {
	switch {
	case a.Names != nil:
		return a.named(most)
	case a.Log && a.High/a.Low >= 8:
		return a.decades(most)
	}
	return a.even(most)
}

func (a *Axis) named(most int) (list []Tick) {
	every := max((len(a.Names)+most-1)/max(most, 1), 1)
	for i := 0; i < len(a.Names); i += every {
		list = append(list, Tick{float64(i), a.Names[i]})
	}
	return list
}

// decades has powers of ten; where these are few, also their doubles and fives.
func (a *Axis) decades(most int) (list []Tick) {
	from, to := int(math.Ceil(ln(a.Low)/math.Ln10-1e-9)), int(math.Floor(ln(a.High)/math.Ln10+1e-9))
	n := to - from + 1
	factors := []float64{1}
	if n*3 <= most+1 {
		factors = []float64{1, 2, 5}
	}
	every := max((n+most-1)/max(most, 1), 1)
	for e := from - 1; e <= to; e++ {
		for _, f := range factors {
			v, _ := strconv.ParseFloat(strconv.Itoa(int(f))+"e"+strconv.Itoa(e), 64)
			if (e-from)%every == 0 && v >= a.Low*(1-1e-9) && v <= min(a.High*(1+1e-9), math.MaxFloat64) {
				list = append(list, Tick{v, Number(v)})
			}
		}
	}
	return list
}

func (a *Axis) even(most int) (list []Tick) {
	unit := a.unit()
	low, high, n := a.Low/unit, a.High/unit, float64(max(most, 1))
	step := stepOf(high/n-low/n, a.Whole)
	end := min(high+step*1e-9, math.MaxFloat64)
	for i := math.Ceil(low/step - 1e-9); i*step <= end && len(list) < 50; i++ {
		v := i * step * unit
		if last := len(list) - 1; last < 0 || v != list[last].Value { // there may be no number between two neighbours
			list = append(list, Tick{v, decimal(v, step*unit)})
		}
	}
	return list
}

// unit is what ticks are counted in: steps between the tiniest numbers are too small for a number.
func (a *Axis) unit() float64 {
	if most := max(math.Abs(a.Low), math.Abs(a.High)); most > 0 && most < 1e-280 {
		return 1e-280
	}
	return 1
}

// stepOf returns the round number that is not below x: 1, 2 or 5 times a power of ten.
func stepOf(x float64, whole bool) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5, 10} {
		if s := f * p; s >= x*(1-1e-9) && (!whole || s >= 1) {
			return min(s, 1e308) // a larger one has no multiple that is a number
		}
	}
	return max(10*p, 1)
}

// decimal writes a multiple of a step with the digits that the step has.
func decimal(v, step float64) string {
	digits := max(0, -math.Floor(math.Log10(step)+1e-9))
	if math.Abs(v) >= 1e7 || digits > 7 {
		return Number(v)
	}
	text := strconv.FormatFloat(v, 'f', int(digits), 64)
	if strings.Trim(text, "-0.") == "" {
		return "0"
	}
	return text
}

// Number writes a number without an exponent, unless it is very large or small.
func Number(v float64) string {
	if x := math.Abs(v); v != 0 && (x < 1e-6 || x >= 1e7) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64)
}
