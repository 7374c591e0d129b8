package paper

import (
	"bytes"
	"math"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"

	"github.com/tunehost/tunehost/host/plot/figure"
)

// density is how many pixels of the picture a pixel of the page has on each side.
const density = 2

// picture is a canvas.
type picture struct {
	c     *gg.Context
	faces map[float64]font.Face
}

func newPNG(width, height float64) *picture {
	p := &picture{gg.NewContext(int(width*density), int(height*density)), map[float64]font.Face{}}
	p.c.SetRGB(1, 1, 1)
	p.c.Clear()
	return p
}

func (p *picture) lines(points []xy, x pen) {
	for i, q := range points {
		if i == 0 {
			p.c.MoveTo(q.x*density, q.y*density)
		} else {
			p.c.LineTo(q.x*density, q.y*density)
		}
	}
	r, g, b := x.colour.RGB()
	p.c.SetRGBA255(r, g, b, int(x.alpha*255))
	if x.fill {
		p.c.ClosePath()
		p.c.Fill()
		return
	}
	dash := make([]float64, len(x.dash))
	for i, d := range x.dash {
		dash[i] = d * density
	}
	p.c.SetDash(dash...)
	p.c.SetLineWidth(x.width * density)
	p.c.Stroke()
}

func (p *picture) text(at xy, s string, size, anchor float64, upward bool, c figure.Colour) {
	if p.faces[size] == nil {
		p.faces[size] = faceOf(size * density)
	}
	p.c.SetFontFace(p.faces[size])
	r, g, b := c.RGB()
	p.c.SetRGB255(r, g, b)
	x, y := at.x*density, at.y*density
	p.c.Push()
	if upward {
		p.c.RotateAbout(-math.Pi/2, x, y)
	}
	p.c.DrawStringAnchored(s, x, y, anchor, 0)
	p.c.Pop()
}

func (p *picture) bytes() ([]byte, error) {
	var b bytes.Buffer
	err := p.c.EncodePNG(&b)
	return b.Bytes(), err
}
