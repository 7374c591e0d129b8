package paper

import (
	"math"
	"strings"

	"github.com/tunehost/tunehost/host/plot/figure"
)

// Sizes, in pixels.
const (
	edge      = 24.0
	titleSize = 17.0
	textSize  = 12.0
	noteSize  = 12.0
	lineStep  = 17.0
	keyStep   = 20.0
	sample    = 22.0 // of a key
	// minorColour is that of notes and axes.
	minorColour figure.Colour = 0x444444
	gridColour  figure.Colour = 0xDDDDDD
)

// page is where the parts of a figure are.
type page struct {
	*figure.Figure
	width, height float64
	columns       int
	notes         []string
	keyRows       [][]figure.Key
	panelWidth    float64
	panelHeight   float64
}

// plan places the parts of a figure.
func plan(f *figure.Figure) *page {
	p := &page{Figure: f, columns: 1, panelWidth: 912, panelHeight: 480}
	if n := len(f.Panels); n > 1 {
		p.columns = min(3, int(math.Ceil(math.Sqrt(float64(n)))))
		p.panelWidth, p.panelHeight = 400, 300
	} else if len(f.Panels[0].Y.Names) > 15 {
		p.panelHeight = 90 + 26*float64(len(f.Panels[0].Y.Names))
	}
	p.width = max(2*edge+p.panelWidth*float64(p.columns), 600)
	p.notes = wrapped(strings.Join(f.Notes, "; "), p.width-2*edge)
	p.keyRows = rowsOf(f.Keys, p.width-2*edge)
	rows := (len(f.Panels) + p.columns - 1) / p.columns
	p.height = p.top() + float64(rows)*p.panelHeight + edge/2
	return p
}

// top is where the panels begin.
func (p *page) top() float64 {
	return edge + titleSize + lineStep*float64(len(p.notes)) + keyStep*float64(len(p.keyRows)) + 10
}

// wrapped splits a text into lines at spaces.
func wrapped(s string, width float64) (lines []string) {
	for _, word := range strings.Fields(s) {
		if n := len(lines); n > 0 && widthOf(lines[n-1]+" "+word, noteSize) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, cut(word, noteSize, width))
		}
	}
	return lines
}

// rowsOf puts keys in rows that fit.
func rowsOf(keys []figure.Key, width float64) (rows [][]figure.Key) {
	left := 0.0
	for _, k := range keys {
		w := keyWidth(k)
		if len(rows) == 0 || left < w {
			rows, left = append(rows, nil), width
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], k)
		left -= w
	}
	return rows
}

func keyWidth(k figure.Key) float64 { return sample + 6 + widthOf(k.Name, textSize) + 18 }

func (p *page) draw(c canvas) {
	y := edge + titleSize/2
	c.text(xy{edge, y}, cut(p.Title, titleSize, p.width-2*edge), titleSize, 0, false, figure.Black)
	for _, line := range p.notes {
		y += lineStep
		c.text(xy{edge, y}, line, noteSize, 0, false, minorColour)
	}
	for _, row := range p.keyRows {
		y += keyStep
		x := edge
		for _, k := range row {
			drawKey(c, k, xy{x, y})
			x += keyWidth(k)
		}
	}
	for i := range p.Panels {
		left := edge + float64(i%p.columns)*p.panelWidth
		top := p.top() + float64(i/p.columns)*p.panelHeight
		drawPanel(c, &p.Panels[i], box{left, top, left + p.panelWidth, top + p.panelHeight})
	}
}

func drawKey(c canvas, k figure.Key, at xy) {
	middle := at.y - textSize/3
	from, to := xy{at.x, middle}, xy{at.x + sample, middle}
	switch k.Shape {
	case figure.Line:
		c.lines([]xy{from, to}, linePen(k.Style))
	case figure.Boxes:
		c.lines(box{from.x, middle - 5, to.x, middle + 5}.corners(), areaPen(k.Style))
	default:
		drawMarker(c, xy{at.x + sample/2, middle}, k.Style)
	}
	c.text(xy{at.x + sample + 6, at.y}, k.Name, textSize, 0, false, figure.Black)
}
