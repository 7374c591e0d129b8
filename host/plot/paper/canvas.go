// Package paper draws figures as SVG, PNG and PDF.
package paper

import (
	"fmt"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"

	"github.com/tunehost/tunehost/host/plot/figure"
)

// canvas is a page. The origin is at the top left, the unit is a pixel of a screen.
type canvas interface {
	// lines draws a line through points, closed and filled if the pen says so.
	lines(points []xy, p pen)
	// text writes a line of text. anchor is the part of it that is left of the place: 0, 0.5 or 1.
	text(at xy, s string, size, anchor float64, upward bool, c figure.Colour)
	bytes() ([]byte, error)
}

// xy is a place on a page.
type xy struct{ x, y float64 }

// pen is how a line or an area is drawn.
type pen struct {
	colour figure.Colour
	width  float64
	dash   []float64
	// alpha is how much of what is behind is hidden, up to 1.
	alpha float64
	fill  bool
}

// File returns a figure as a file: svg, png or pdf.
func File(f *figure.Figure, format string) ([]byte, error) {
	p := plan(f)
	var c canvas
	switch format {
	case "svg":
		c = newSVG(p.width, p.height, f.Title)
	case "png":
		c = newPNG(p.width, p.height)
	case "pdf":
		c = newPDF(p.width, p.height, f.Title)
	default:
		return nil, fmt.Errorf("no format %q", format)
	}
	p.draw(c)
	return c.bytes()
}

// parsed is the font of measures and PNG. It cannot fail: the font is part of the program.
var parsed = sync.OnceValue(func() *opentype.Font {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic(err)
	}
	return f
})

// measure is a face with 100 pixels.
var measure = sync.OnceValue(func() font.Face { return faceOf(100) })

func faceOf(size float64) font.Face {
	f, err := opentype.NewFace(parsed(), &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(err)
	}
	return f
}

// widthOf returns the width of a text.
func widthOf(s string, size float64) float64 {
	return float64(font.MeasureString(measure(), s)) / 64 / 100 * size
}

// cut shortens a text to a width, within: names often differ at their ends.
func cut(s string, size, width float64) string {
	runes := []rune(s)
	for n := len(runes) - 1; n > 0 && widthOf(s, size) > width; n-- {
		s = string(runes[:(n+1)/2]) + "…" + string(runes[len(runes)-n/2:])
	}
	return s
}
