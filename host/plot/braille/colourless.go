package braille

import (
	"slices"

	"github.com/tunehost/tunehost/host/plot/figure"
)

// colourless returns a figure that is read without colours: patterns tell lines and boxes apart, and keys that look
// the same are one.
func colourless(f *figure.Figure) *figure.Figure {
	plain := *f
	fills := fillsOf(f.Keys)
	plain.Panels = slices.Clone(f.Panels)
	for i := range plain.Panels {
		p := &plain.Panels[i]
		p.Marks = slices.Clone(p.Marks)
		for j := range p.Marks {
			p.Marks[j].Style = patterned(p.Marks[j].Shape, p.Marks[j].Style, fills)
		}
	}
	plain.Keys = nil
	for _, k := range f.Keys {
		k.Style = patterned(k.Shape, k.Style, fills)
		same := func(o figure.Key) bool { return sampleOf(o) == sampleOf(k) }
		if at := slices.IndexFunc(plain.Keys, same); at >= 0 {
			plain.Keys[at].Name += ", " + k.Name
		} else {
			plain.Keys = append(plain.Keys, k)
		}
	}
	return &plain
}

// patterns are from the first to the last choice.
var patterns = []figure.Dash{figure.Solid, figure.Dashed, figure.Mixed, figure.Dotted}

// fillsOf gives each colour of boxes a pattern; the last one is solid.
func fillsOf(keys []figure.Key) map[figure.Colour]figure.Dash {
	fills := map[figure.Colour]figure.Dash{}
	for _, k := range slices.Backward(keys) {
		if _, known := fills[k.Style.Colour]; k.Shape == figure.Boxes && !known {
			fills[k.Style.Colour] = patterns[min(len(fills), len(patterns)-1)]
		}
	}
	return fills
}

// patterned returns a style with the pattern that stands for its colour. Of ranked colours the better half and the
// worse half differ.
func patterned(shape figure.Shape, s figure.Style, fills map[figure.Colour]figure.Dash) figure.Style {
	step, ranked := s.Colour.Step()
	good := step < figure.Steps/2
	switch {
	case shape == figure.Boxes && s.Faint: // shades tell these apart
	case shape == figure.Boxes && ranked && good:
		s.Dash = figure.Solid
	case shape == figure.Boxes && ranked:
		s.Dash = figure.Dashed
	case shape == figure.Boxes:
		s.Dash = fills[s.Colour]
	case shape == figure.Line && ranked && good:
		s.Dash = figure.Dashed
	case shape == figure.Line && ranked:
		s.Dash = figure.Dotted
	}
	return s
}

// onLine reports whether a line with the pattern has its k-th dot.
func onLine(d figure.Dash, k int) bool {
	switch d {
	case figure.Dashed:
		return k/2%2 == 0
	case figure.Dotted:
		return k%4 == 0
	case figure.Mixed:
		return k%8 < 4 || k%8 == 6
	}
	return true
}

// inBox reports whether a box with the pattern has a dot at a place. Even a box of one row keeps some dots.
func inBox(d figure.Dash, x, y int) bool {
	switch d {
	case figure.Dashed:
		return (x+y)%2 == 0
	case figure.Dotted:
		return (x+2*y)%4 == 0
	case figure.Mixed:
		return (x+y)%4 != 0
	}
	return true
}

// lineSamples are how lines look in keys.
var lineSamples = map[figure.Dash]string{figure.Solid: "──", figure.Dashed: "╌╌", figure.Dotted: "┈┈",
	figure.Mixed: "─·"}

// boxSample is how a box looks in keys.
func boxSample(d figure.Dash) string {
	if d == figure.Solid {
		return "██"
	}
	g := newGrid(2, 1)
	for x := range g.columns * 2 {
		for y := range g.rows * 4 {
			if inBox(d, x, y) {
				g.dot(x, y, figure.Black)
			}
		}
	}
	return g.cells[0].String() + g.cells[1].String()
}
