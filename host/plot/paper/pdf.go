package paper

import (
	"bytes"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/goregular"

	"github.com/tunehost/tunehost/host/plot/figure"
)

// perPixel is how many points of a PDF a pixel is.
const perPixel = 0.75

// document is a canvas.
type document struct{ p *fpdf.Fpdf }

func newPDF(width, height float64, title string) *document {
	p := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: width * perPixel, Ht: height * perPixel}})
	p.AddUTF8FontFromBytes("Go", "", goregular.TTF)
	p.SetTitle(title, true)
	p.SetCatalogSort(true)
	p.SetCreationDate(time.Unix(0, 0)) // the same plot is the same file
	p.SetModificationDate(time.Unix(0, 0))
	p.SetAutoPageBreak(false, 0)
	p.AddPage()
	return &document{p}
}

func (d *document) lines(points []xy, x pen) {
	r, g, b := x.colour.RGB()
	d.p.SetAlpha(x.alpha, "Normal")
	style := "D"
	if x.fill {
		style = "F"
		d.p.SetFillColor(r, g, b)
	} else {
		d.p.SetDrawColor(r, g, b)
		d.p.SetLineWidth(x.width * perPixel)
		d.p.SetDashPattern(x.dash, 0)
	}
	for i, q := range points {
		if i == 0 {
			d.p.MoveTo(q.x*perPixel, q.y*perPixel)
		} else {
			d.p.LineTo(q.x*perPixel, q.y*perPixel)
		}
	}
	d.p.DrawPath(style)
}

func (d *document) text(at xy, s string, size, anchor float64, upward bool, c figure.Colour) {
	r, g, b := c.RGB()
	d.p.SetAlpha(1, "Normal")
	d.p.SetTextColor(r, g, b)
	d.p.SetFont("Go", "", size*perPixel)
	x, y := at.x*perPixel, at.y*perPixel
	d.p.TransformBegin()
	if upward {
		d.p.TransformRotate(90, x, y)
	}
	d.p.Text(x-anchor*d.p.GetStringWidth(s), y, s)
	d.p.TransformEnd()
}

func (d *document) bytes() ([]byte, error) {
	var b bytes.Buffer
	err := d.p.Output(&b)
	return b.Bytes(), err
}
