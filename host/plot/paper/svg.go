package paper

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/plot/figure"
)

// svg is a canvas. All text goes through escaped.
type svg struct{ b bytes.Buffer }

func newSVG(width, height float64, title string) *svg {
	s := &svg{}
	fmt.Fprintf(&s.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" `+
		`font-family="Go, Liberation Sans, Arial, sans-serif" role="img"><title>%s</title>`+"\n"+
		`<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n", width, height, width, height, escaped(title))
	return s
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}

func (s *svg) lines(points []xy, p pen) {
	s.b.WriteString(`<path d="`)
	for i, q := range points {
		s.b.WriteByte("LM"[b2i(i == 0)])
		s.b.WriteString(short(q.x) + " " + short(q.y))
	}
	if p.fill {
		fmt.Fprintf(&s.b, `Z" fill="%s"%s/>`+"\n", p.colour.Hex(), opacity("fill", p.alpha))
		return
	}
	dash := ""
	for i, d := range p.dash {
		dash += map[bool]string{true: ` stroke-dasharray="`, false: " "}[i == 0] + short(d)
	}
	if dash != "" {
		dash += `"`
	}
	fmt.Fprintf(&s.b, `" fill="none" stroke="%s" stroke-width="%s"%s%s/>`+"\n", p.colour.Hex(), short(p.width), dash,
		opacity("stroke", p.alpha))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func opacity(of string, alpha float64) string {
	if alpha >= 1 {
		return ""
	}
	return fmt.Sprintf(` %s-opacity="%g"`, of, alpha)
}

// short writes a coordinate with a tenth of a pixel.
func short(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

func (s *svg) text(at xy, text string, size, anchor float64, upward bool, c figure.Colour) {
	turn := ""
	if upward {
		turn = fmt.Sprintf(` transform="rotate(-90 %s %s)"`, short(at.x), short(at.y))
	}
	fmt.Fprintf(&s.b, `<text x="%s" y="%s" font-size="%g" text-anchor="%s" fill="%s"%s>%s</text>`+"\n", short(at.x),
		short(at.y), size, map[float64]string{0: "start", 0.5: "middle", 1: "end"}[anchor], c.Hex(), turn,
		escaped(text))
}

func (s *svg) bytes() ([]byte, error) {
	s.b.WriteString("</svg>\n")
	return s.b.Bytes(), nil
}
