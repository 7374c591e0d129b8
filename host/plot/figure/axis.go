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
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	at := (v - low) / (high - low)
	if a.Reversed {
		return 1 - at
	}
	return at
}

// Value returns the value at a place.
func (a *Axis) Value(at float64) float64 {
	if a.Reversed {
		at = 1 - at
	}
	if a.Log {
		return math.Exp(math.Log(a.Low) + at*(math.Log(a.High)-math.Log(a.Low)))
	}
	return a.Low + at*(a.High-a.Low)
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
		if high/low < 1.01 {
			return low / 2, high * 2
		}
		f := math.Pow(high/low, margin)
		return low / f, high * f
	}
	d := (high - low) * margin
	if d == 0 || low+d == low || math.IsInf(d, 0) {
		d = max(math.Abs(high)*0.1, 1e-9)
		if low == 0 {
			d = 1
		}
	}
	return low - d, high + d
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
	from, to := int(math.Ceil(math.Log10(a.Low)-1e-9)), int(math.Floor(math.Log10(a.High)+1e-9))
	n := to - from + 1
	factors := []float64{1}
	if n*3 <= most+1 {
		factors = []float64{1, 2, 5}
	}
	every := max((n+most-1)/max(most, 1), 1)
	for e := from - 1; e <= to; e++ {
		for _, f := range factors {
			v, _ := strconv.ParseFloat(strconv.Itoa(int(f))+"e"+strconv.Itoa(e), 64)
			if (e-from)%every == 0 && v >= a.Low*(1-1e-9) && v <= a.High*(1+1e-9) {
				list = append(list, Tick{v, Number(v)})
			}
		}
	}
	return list
}

func (a *Axis) even(most int) (list []Tick) {
	step := stepOf((a.High-a.Low)/float64(max(most, 1)), a.Whole)
	for i := math.Ceil(a.Low/step - 1e-9); i*step <= a.High+step*1e-9 && len(list) < 50; i++ {
		list = append(list, Tick{i * step, decimal(i*step, step)})
	}
	return list
}

// stepOf returns the round number that is not below x: 1, 2 or 5 times a power of ten.
func stepOf(x float64, whole bool) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5, 10} {
		if s := f * p; s >= x*(1-1e-9) && (!whole || s >= 1) {
			return s
		}
	}
	return max(10*p, 1)
}

// decimal writes a multiple of a step with the digits that the step has.
func decimal(v, step float64) string {
	digits := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	if math.Abs(v) >= 1e7 || digits > 7 {
		return Number(v)
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
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
