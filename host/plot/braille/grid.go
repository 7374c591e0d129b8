package braille

import (
	"math"
	"strings"

	"github.com/tunehost/tunehost/host/plot/figure"
)

// grid is a canvas of characters, each with 2 by 4 dots.
type grid struct {
	columns, rows int
	cells         []cell
}

// cell is a character.
type cell struct {
	dots rune
	// text is drawn instead of dots.
	text   string
	colour figure.Colour
}

func newGrid(columns, rows int) *grid {
	return &grid{columns, rows, make([]cell, columns*rows)}
}

// bits are the dots of a Braille character, by row and column.
var bits = [4][2]rune{{1, 8}, {2, 16}, {4, 32}, {64, 128}}

// dot sets a dot; those outside are left out.
func (g *grid) dot(x, y int, c figure.Colour) {
	if x < 0 || y < 0 || x >= g.columns*2 || y >= g.rows*4 {
		return
	}
	at := &g.cells[y/4*g.columns+x/2]
	at.dots |= bits[y%4][x%2]
	at.colour = c
}

// row returns a row as text; a colour is written where it begins.
func (g *grid) row(d *drawing, row int) string {
	var b strings.Builder
	for at := row * g.columns; at < (row+1)*g.columns; {
		end, text := at, ""
		for ; end < (row+1)*g.columns && g.cells[end].colour == g.cells[at].colour; end++ {
			text += g.cells[end].String()
		}
		if strings.TrimSpace(text) == "" {
			b.WriteString(text)
		} else {
			b.WriteString(d.coloured(text, g.cells[at].colour))
		}
		at = end
	}
	return b.String()
}

func (c cell) String() string {
	switch {
	case c.text != "":
		return c.text
	case c.dots == 0:
		return " "
	}
	return string(0x2800 + c.dots)
}

// marks draws all marks of a panel.
func (g *grid) marks(p *figure.Panel) {
	for _, r := range p.Rulers {
		x, _ := g.place(p, figure.Point{X: r.At})
		for y := range g.rows * 4 {
			g.dot(x, y, figure.Grey)
		}
	}
	for _, m := range p.Marks {
		switch m.Shape {
		case figure.Line:
			g.line(p, m)
		case figure.Boxes:
			g.boxes(p, m)
		default:
			g.markers(p, m)
		}
	}
}

// place returns the dot of a point.
func (g *grid) place(p *figure.Panel, q figure.Point) (x, y int) {
	return dotAt(p.X.At(q.X), g.columns*2), dotAt(1-p.Y.At(q.Y), g.rows*4)
}

// dotAt returns the dot at a part of an axis. Parts far outside of it, which would overflow, are just outside.
func dotAt(part float64, dots int) int {
	return int(math.Round(min(max(part, -1), 2) * float64(dots-1)))
}

func (g *grid) markers(p *figure.Panel, m figure.Mark) {
	for _, q := range m.Points {
		x, y := g.place(p, q)
		g.dot(x, y, m.Style.Colour)
		if m.Style.Marker != figure.Circle && x >= 0 && y >= 0 && x < g.columns*2 && y < g.rows*4 {
			g.cells[y/4*g.columns+x/2].text = markerText(m.Style.Marker)
		}
	}
}

func (g *grid) line(p *figure.Panel, m figure.Mark) {
	for i := 1; i < len(m.Points); i++ {
		a, b := m.Points[i-1], m.Points[i]
		if math.IsNaN(a.X+a.Y) || math.IsNaN(b.X+b.Y) {
			continue
		}
		x, y := g.place(p, a)
		u, v := g.place(p, b)
		n := max(abs(u-x), abs(v-y), 1)
		for k := 0; k <= n; k++ {
			if onLine(m.Style.Dash, k) {
				g.dot(x+(u-x)*k/n, y+(v-y)*k/n, m.Style.Colour)
			}
		}
	}
}

func abs(x int) int { return max(x, -x) }

// shades are from light to dark.
var shades = []string{"·", "░", "▒", "▓", "█"}

// shade is how dark a colour is.
func shade(c figure.Colour) string {
	r, g, b := c.RGB()
	return shades[min((255*3-r-g-b)*len(shades)/(255*3), len(shades)-1)]
}

func (g *grid) boxes(p *figure.Panel, m figure.Mark) {
	for i := 0; i+1 < len(m.Points); i += 2 {
		x, y := g.place(p, m.Points[i])
		u, v := g.place(p, m.Points[i+1])
		for a := max(min(x, u), 0); a <= min(max(x, u), g.columns*2-1); a++ {
			for b := max(min(y, v), 0); b <= min(max(y, v), g.rows*4-1); b++ {
				if inBox(m.Style.Dash, a, b) {
					g.dot(a, b, m.Style.Colour)
				}
				if m.Style.Faint { // it is read without colour too
					g.cells[b/4*g.columns+a/2].text = shade(m.Style.Colour)
				}
			}
		}
	}
}
