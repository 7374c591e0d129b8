// Package braille draws figures as text, with dots of Braille characters.
package braille

import (
	"fmt"
	"math"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/tunehost/tunehost/host/plot/figure"
)

// Limits of a drawing, in characters.
const (
	leastColumns = 40
	mostColumns  = 160
	mostRows     = 30
)

// Text draws a figure in so many columns. With colours it has escape sequences; without them patterns tell apart what
// the colours do.
func Text(f *figure.Figure, columns int, colours bool) string {
	d := &drawing{columns: min(max(columns, leastColumns), mostColumns), colours: colours}
	if !colours {
		f = colourless(f)
	}
	d.line(runewidth.Truncate(f.Title, d.columns, "…"))
	for _, n := range f.Notes {
		d.line(runewidth.Truncate("  "+n, d.columns, "…"))
	}
	for i := range f.Panels {
		if i > 0 {
			d.line("")
		}
		d.panel(&f.Panels[i])
	}
	for _, k := range f.Keys {
		d.line("  " + d.coloured(sampleOf(k), k.Style.Colour) + " " + runewidth.Truncate(k.Name, d.columns-5, "…"))
	}
	return d.String()
}

// sampleOf is how a key looks without colour.
func sampleOf(k figure.Key) string {
	switch k.Shape {
	case figure.Line:
		return lineSamples[k.Style.Dash]
	case figure.Boxes:
		if k.Style.Faint {
			return strings.Repeat(shade(k.Style.Colour), 2)
		}
		return boxSample(k.Style.Dash)
	}
	return markerText(k.Style.Marker) + " "
}

func markerText(m figure.Marker) string {
	return map[figure.Marker]string{figure.Circle: "⣿", figure.Triangle: "▲", figure.Square: "■", figure.Diamond: "◆",
		figure.Cross: "×", figure.Plus: "+"}[m]
}

// drawing is the text so far.
type drawing struct {
	strings.Builder
	columns int
	colours bool
}

func (d *drawing) line(s string) { d.WriteString(strings.TrimRight(s, " ") + "\n") }

func (d *drawing) coloured(s string, c figure.Colour) string {
	if !d.colours || c == figure.Black {
		return s
	}
	r, g, b := c.RGB()
	return fmt.Sprintf("\x1b[38;2;%d;%d;%dm%s\x1b[0m", r, g, b, s)
}

// panel draws a panel with its axes.
func (d *drawing) panel(p *figure.Panel) {
	if p.Rulers != nil {
		d.rulers(p)
		return
	}
	rows := d.rows(p)
	left, labels := labelled(&p.Y, rows)
	g := newGrid(max(d.columns-left-2, 10), rows)
	g.marks(p)
	if p.Y.Label != "" {
		d.line(strings.Repeat(" ", left) + axisLabel(&p.Y))
	}
	for row := range rows {
		d.line(padded(labels[row], left) + "┤" + g.row(d, row))
	}
	d.line(strings.Repeat(" ", left) + "└" + strings.Repeat("─", g.columns))
	d.line(strings.Repeat(" ", left+1) + ticksBelow(&p.X, g.columns))
	if p.X.Label != "" {
		d.line(strings.Repeat(" ", left+1) + axisLabel(&p.X))
	}
}

// rows returns the height of a panel: as many rows as categories, else by the width.
func (d *drawing) rows(p *figure.Panel) int {
	if n := len(p.Y.Names); n > 0 {
		return n
	}
	return min(max(d.columns/4, 8), mostRows)
}

func axisLabel(a *figure.Axis) string {
	if a.Log {
		return a.Label + ", log"
	}
	return a.Label
}

// labelled returns the text beside each row, and the widest.
func labelled(a *figure.Axis, rows int) (width int, labels []string) {
	labels = make([]string, rows)
	for _, t := range a.Ticks(max(rows/3, len(a.Names))) {
		row := int(math.Round((1 - a.At(t.Value)) * float64(rows-1)))
		if a.Names != nil {
			row = rows - 1 - int(t.Value)
		}
		if row >= 0 && row < rows {
			labels[row] = runewidth.Truncate(t.Text, 34, "…")
			width = max(width, runewidth.StringWidth(labels[row]))
		}
	}
	return width + 1, labels
}

func padded(s string, width int) string {
	return strings.Repeat(" ", max(width-1-runewidth.StringWidth(s), 0)) + s + " "
}

// ticksBelow writes the ticks of a horizontal axis in a line; those without room are left out.
func ticksBelow(a *figure.Axis, columns int) string {
	line, end := "", 0
	for _, t := range a.Ticks(max(columns/12, 2)) {
		w := runewidth.StringWidth(t.Text)
		at := min(max(int(a.At(t.Value)*float64(columns-1))-w/2, 0), columns-w)
		if at < end || at < 0 {
			continue
		}
		line += strings.Repeat(" ", at-runewidth.StringWidth(line)) + t.Text
		end = at + w + 1
	}
	return line
}

// rulers draws parallel coordinates, with the ends of each axis below. Characters have room for few lines: those of the
// best colour.
func (d *drawing) rulers(p *figure.Panel) {
	g := newGrid(d.columns-2, min(max(d.columns/4, 8), mostRows))
	if n := len(p.Marks); n > 2 {
		d.line("  on a terminal only the best trials are drawn")
		best := *p
		best.Marks = p.Marks[n-2:]
		p = &best
	}
	g.marks(p)
	for row := range g.rows {
		d.line(g.row(d, row))
	}
	for _, r := range p.Rulers {
		a := &r.Axis
		ends := figure.Number(a.Low) + " to " + figure.Number(a.High)
		if n := len(a.Names); n > 0 {
			ends = strings.Join(a.Names, ", ")
		}
		text := fmt.Sprintf("  axis %g: %s, from below: %s", r.At+1, axisLabel(a), ends)
		d.line(runewidth.Truncate(text, d.columns, "…"))
	}
}
