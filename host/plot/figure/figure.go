// Package figure has drawings as data: panels with axes, and marks in the units of the axes. Packages paper and
// braille draw them.
package figure

// Figure is a drawing.
type Figure struct {
	Title string
	// Notes say what the drawing leaves out.
	Notes  []string
	Panels []Panel
	Keys   []Key
}

// Panel is a part of a figure with axes of its own.
type Panel struct {
	X, Y  Axis
	Marks []Mark
	// Rulers are further vertical axes, for parallel coordinates; then Y is from 0 to 1 and hidden.
	Rulers []Ruler
}

// Ruler is a vertical axis in a panel.
type Ruler struct {
	At   float64
	Axis Axis
}

// Shape is how points of a mark are drawn.
type Shape string

// Shapes.
const (
	// Line connects the points; a point with NaN ends a line.
	Line Shape = "line"
	// Dots has a marker for each point.
	Dots Shape = "dots"
	// Boxes has a filled box for each two points, which are opposite corners.
	Boxes Shape = "boxes"
)

// Point is a place in the units of the axes.
type Point struct{ X, Y float64 }

// Mark is a set of points that are drawn in the same way.
type Mark struct {
	Shape  Shape
	Points []Point
	Style  Style
}

// Style is how a mark looks.
type Style struct {
	Colour Colour
	Marker Marker
	// Width is that of a line; 0: 1.
	Width float64
	Dash  Dash
	// Faint marks are in the background.
	Faint bool
}

// Key explains a style.
type Key struct {
	Name  string
	Shape Shape
	Style Style
}
