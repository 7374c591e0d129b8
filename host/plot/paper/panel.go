package paper

import (
	"math"

	"github.com/tunehost/tunehost/host/plot/figure"
)

// box is a part of a page.
type box struct{ left, top, right, bottom float64 }

func (b box) corners() []xy {
	return []xy{{b.left, b.top}, {b.right, b.top}, {b.right, b.bottom}, {b.left, b.bottom}}
}

// panel is a panel with its place on a page.
type panel struct {
	*figure.Panel
	c               canvas
	outside, inside box
	// xs and ys are the ticks; turned says that those of x are written upward.
	xs, ys []figure.Tick
	turned bool
}

// tickRoom is the room of a tick's text, in pixels.
const tickRoom = 72

func drawPanel(c canvas, f *figure.Panel, outside box) {
	p := &panel{Panel: f, c: c, outside: outside}
	p.place(outside)
	p.grid()
	for _, m := range f.Marks {
		p.mark(m)
	}
	p.frame()
	for i, r := range f.Rulers {
		p.ruler(i, r)
	}
}

// place finds the inside: what axes leave.
func (p *panel) place(o box) {
	p.inside = box{o.left + 12, o.top + 8, o.right - 14, o.bottom - 12}
	if p.Rulers != nil {
		p.inside.left, p.inside.right, p.inside.top = o.left+50, o.right-70, o.top+46
		return
	}
	p.ys = p.Y.Ticks(max(int((o.bottom-o.top)/50), 2))
	if p.Y.Names != nil {
		p.ys = p.Y.Ticks(len(p.Y.Names))
	}
	if p.Y.Label != "" {
		p.inside.left += textSize + 8
	}
	p.inside.left += widest(p.ys) + 8
	p.xs = p.X.Ticks(max(int((p.inside.right-p.inside.left)/tickRoom), 2))
	room := (p.inside.right - p.inside.left) / max(float64(len(p.xs)), 1)
	if p.X.Names != nil {
		p.xs = p.X.Ticks(int((p.inside.right - p.inside.left) / (textSize + 4)))
		room = (p.inside.right - p.inside.left) / float64(len(p.X.Names))
	}
	p.turned = widest(p.xs) > room-4
	p.inside.bottom -= textSize + 10
	if p.turned {
		p.inside.bottom -= widest(p.xs) - textSize
	}
	if p.X.Label != "" {
		p.inside.bottom -= textSize + 8
	}
}

func widest(ticks []figure.Tick) (w float64) {
	for _, t := range ticks {
		w = max(w, widthOf(t.Text, textSize))
	}
	return w
}

// at returns the place of a point on the page.
func (p *panel) at(q figure.Point) xy { return xy{p.x(p.X.At(q.X)), p.y(p.Y.At(q.Y))} }

func (p *panel) x(part float64) float64 { return p.inside.left + part*(p.inside.right-p.inside.left) }
func (p *panel) y(part float64) float64 { return p.inside.bottom - part*(p.inside.bottom-p.inside.top) }

func (p *panel) grid() {
	if p.Rulers != nil {
		return
	}
	thin := pen{colour: gridColour, width: 1, alpha: 1}
	for _, t := range p.xs {
		x := p.x(p.X.At(t.Value))
		p.c.lines([]xy{{x, p.inside.top}, {x, p.inside.bottom}}, thin)
	}
	for _, t := range p.ys {
		y := p.y(p.Y.At(t.Value))
		p.c.lines([]xy{{p.inside.left, y}, {p.inside.right, y}}, thin)
	}
}

// frame draws the texts of the axes.
func (p *panel) frame() {
	if p.Rulers != nil {
		return
	}
	i := p.inside
	corners := i.corners()
	p.c.lines(append(corners, corners[0]), pen{colour: minorColour, width: 1, alpha: 1})
	for _, t := range p.ys {
		p.c.text(xy{i.left - 6, p.y(p.Y.At(t.Value)) + textSize/3}, t.Text, textSize, 1, false, minorColour)
	}
	below := i.bottom + textSize + 4
	for _, t := range p.xs {
		x := p.x(p.X.At(t.Value))
		if p.turned {
			p.c.text(xy{x + textSize/3, i.bottom + 5}, t.Text, textSize, 1, true, minorColour)
			continue
		}
		p.c.text(xy{x, below}, t.Text, textSize, 0.5, false, minorColour)
	}
	if p.turned {
		below += widest(p.xs) - textSize + 4
	}
	p.c.text(xy{(i.left + i.right) / 2, below + textSize + 5}, cut(axisLabel(&p.X), textSize, i.right-i.left), textSize,
		0.5, false, figure.Black)
	if p.Y.Label != "" {
		x := i.left - widest(p.ys) - 14
		p.c.text(xy{x, (i.top + i.bottom) / 2}, cut(axisLabel(&p.Y), textSize, i.bottom-i.top), textSize, 0.5, true,
			figure.Black)
	}
}

// axisLabel says if the axis is logarithmic.
func axisLabel(a *figure.Axis) string {
	if a.Log {
		return a.Label + ", log"
	}
	return a.Label
}

// ruler draws a vertical axis of parallel coordinates; names alternate in height, so that there is room.
func (p *panel) ruler(n int, r figure.Ruler) {
	x := p.x(p.X.At(r.At))
	low, high := p.y(p.Y.At(0)), p.y(p.Y.At(1))
	p.c.lines([]xy{{x, low}, {x, high}}, pen{colour: figure.Black, width: 1.2, alpha: 1})
	room := (p.inside.right - p.inside.left) / max(float64(len(p.Rulers)-1), 1)
	ticks := r.Axis.Ticks(7)
	if r.Axis.Names != nil {
		ticks = r.Axis.Ticks(int((low - high) / (textSize + 2)))
	}
	for _, t := range ticks {
		y := low - r.Axis.At(t.Value)*(low-high)
		text := t.Text
		if r.Axis.Names != nil { // a part of a number is another number
			text = cut(text, textSize, room-14)
		}
		w := widthOf(text, textSize)
		p.c.lines(box{x + 5, y - textSize/2 - 1, x + 9 + w, y + textSize/2 + 1}.corners(), pen{colour: 0xFFFFFF,
			alpha: 0.8, fill: true})
		p.c.lines([]xy{{x - 3, y}, {x + 3, y}}, pen{colour: figure.Black, width: 1, alpha: 1})
		p.c.text(xy{x + 7, y + textSize/3}, text, textSize, 0, false, figure.Black)
	}
	y := high - 10 - float64(n%2)*(textSize+4)
	left, right := min(0.9*room, x-p.outside.left-2), min(0.9*room, p.outside.right-x-2)
	name := cut(axisLabel(&r.Axis), textSize, left+right)
	half := widthOf(name, textSize) / 2 // names at the edges stand beside their axes, within the picture
	x = max(p.outside.left+half+2, min(x, p.outside.right-half-2))
	p.c.text(xy{x, y}, name, textSize, 0.5, false, figure.Black)
}

func (p *panel) mark(m figure.Mark) {
	switch m.Shape {
	case figure.Line:
		p.line(m)
	case figure.Boxes:
		p.boxes(m)
	default:
		for _, q := range m.Points {
			drawMarker(p.c, p.at(q), m.Style)
		}
	}
}

func (p *panel) line(m figure.Mark) {
	var part []xy
	flush := func() {
		if len(part) > 1 {
			p.c.lines(part, linePen(m.Style))
		}
		part = nil
	}
	for _, q := range m.Points {
		if math.IsNaN(q.X) || math.IsNaN(q.Y) {
			flush()
			continue
		}
		part = append(part, p.at(q))
	}
	flush()
}

// leastBox is how small a box may become, in pixels, so that it stays visible.
const leastBox = 0.6

func (p *panel) boxes(m figure.Mark) {
	for i := 0; i+1 < len(m.Points); i += 2 {
		a, b := p.at(m.Points[i]), p.at(m.Points[i+1])
		x := box{min(a.x, b.x), min(a.y, b.y), max(a.x, b.x), max(a.y, b.y)}
		x.right, x.bottom = max(x.right, x.left+leastBox), max(x.bottom, x.top+leastBox)
		p.c.lines(x.corners(), areaPen(m.Style))
	}
}

func linePen(s figure.Style) pen {
	p := pen{colour: s.Colour, width: s.Width, dash: s.Dash.Lengths(), alpha: 0.85}
	if s.Width == 0 {
		p.width = 1
	}
	return p
}

func areaPen(s figure.Style) pen {
	p := pen{colour: s.Colour, alpha: 1, fill: true}
	if s.Faint {
		p.alpha = 0.75
	}
	return p
}

// radius is that of markers.
const radius = 3.5

func drawMarker(c canvas, at xy, s figure.Style) {
	r, alpha := radius, 0.85
	if s == bestMark {
		r, alpha = 6, 1
	}
	switch s.Marker {
	case figure.Cross:
		drawStrokes(c, at, s, xy{-r, -r}, xy{r, r}, xy{-r, r}, xy{r, -r})
	case figure.Plus:
		drawStrokes(c, at, s, xy{-r, 0}, xy{r, 0}, xy{0, -r}, xy{0, r})
	default:
		c.lines(outline(at, s.Marker, r), pen{colour: s.Colour, alpha: alpha, fill: true})
	}
}

// bestMark is the style of the best trial in all plots: it is larger.
var bestMark = figure.Style{Colour: figure.Vermillion, Marker: figure.Diamond, Width: 2.5}

func drawStrokes(c canvas, at xy, s figure.Style, ends ...xy) {
	for i := 0; i+1 < len(ends); i += 2 {
		a, b := ends[i], ends[i+1]
		c.lines([]xy{{at.x + a.x, at.y + a.y}, {at.x + b.x, at.y + b.y}}, pen{colour: s.Colour, width: 1.5, alpha: 1})
	}
}

// outline returns the corners of a filled marker.
func outline(at xy, m figure.Marker, r float64) (list []xy) {
	n, turn := 12, 0.0
	switch m {
	case figure.Triangle:
		n, turn, r = 3, -math.Pi/2, r*1.3
	case figure.Diamond:
		n, turn, r = 4, 0, r*1.2
	case figure.Square:
		n, turn, r = 4, math.Pi/4, r*1.2
	}
	for i := range n {
		a := turn + 2*math.Pi*float64(i)/float64(n)
		list = append(list, xy{at.x + r*math.Cos(a), at.y + r*math.Sin(a)})
	}
	return list
}
