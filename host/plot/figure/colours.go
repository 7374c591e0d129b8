package figure

import (
	"fmt"
	"slices"
)

// Colour is 0xRRGGBB.
type Colour uint32

// The colours of Okabe and Ito, which people of all kinds of colour vision can tell apart, and a grey.
const (
	Black      Colour = 0x000000
	Orange     Colour = 0xE69F00
	Sky        Colour = 0x56B4E9
	Green      Colour = 0x009E73
	Yellow     Colour = 0xF0E442
	Blue       Colour = 0x0072B2
	Vermillion Colour = 0xD55E00
	Purple     Colour = 0xCC79A7
	Grey       Colour = 0x999999
)

var names = map[Colour]string{Black: "black", Orange: "orange", Sky: "sky", Green: "green", Yellow: "yellow",
	Blue: "blue", Vermillion: "vermillion", Purple: "purple", Grey: "grey"}

// String returns the name of a colour of the palette, or its number.
func (c Colour) String() string {
	if name := names[c]; name != "" {
		return name
	}
	return c.Hex()
}

// Hex returns #rrggbb.
func (c Colour) Hex() string { return fmt.Sprintf("#%06x", uint32(c)) }

// RGB returns the parts, each from 0 to 255.
func (c Colour) RGB() (r, g, b int) { return int(c >> 16 & 255), int(c >> 8 & 255), int(c & 255) }

// Marker is the form of a dot.
type Marker string

// Markers.
const (
	Circle   Marker = "circle"
	Triangle Marker = "triangle"
	Square   Marker = "square"
	Diamond  Marker = "diamond"
	Cross    Marker = "cross"
	Plus     Marker = "plus"
)

// Dash is the pattern of a line: lengths of strokes and gaps; "": solid.
type Dash string

// Patterns.
const (
	Solid  Dash = ""
	Dashed Dash = "dashed"
	Dotted Dash = "dotted"
	Mixed  Dash = "mixed"
)

// Lengths returns the strokes and gaps of a pattern.
func (d Dash) Lengths() []float64 {
	return map[Dash][]float64{Dashed: {6, 3}, Dotted: {1.5, 2.5}, Mixed: {7, 2.5, 1.5, 2.5}}[d]
}

var (
	palette  = []Colour{Blue, Vermillion, Green, Orange, Purple, Sky, Black}
	markers  = []Marker{Circle, Triangle, Square, Diamond, Plus, Cross}
	patterns = []Dash{Solid, Dashed, Dotted, Mixed}
)

// Nth returns a style that differs from the others in colour, marker and pattern.
func Nth(i int) Style {
	return Style{Colour: palette[i%len(palette)], Marker: markers[i%len(markers)], Dash: patterns[i%len(patterns)],
		Width: 1.5}
}

// scale is from the best to the worst: dark blue to yellow, as in cividis; it becomes lighter all the way, so that it
// is read without colour too.
var scale = []Colour{0x00204C, 0x31446B, 0x666870, 0x958F78, 0xCAB969, 0xF0DE50}

// Steps is how many colours a scale has.
const Steps = 6

// Graded returns the colour of a rank from 0, the best, to 1, the worst.
func Graded(rank float64) Colour {
	return scale[min(int(rank*Steps), Steps-1)]
}

// Step returns the step that a colour is on the scale of Graded, from 0, the best.
func (c Colour) Step() (step int, ranked bool) {
	step = slices.Index(scale, c)
	return step, step >= 0
}
