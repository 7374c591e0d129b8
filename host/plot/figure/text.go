package figure

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/tunehost/tunehost/host/untrusted"
)

// Short returns a name as one line of at most so many columns: names come from experiment files and programs.
func Short(s string, most int) string {
	return runewidth.Truncate(untrusted.Line(s, untrusted.MaxReason), most, "…")
}

// Mask returns text that is safe for a line: control characters are escaped.
func Mask(s string) string { return untrusted.Line(s, untrusted.MaxReason) }

// String describes the figure: what is drawn, in text. Tests compare it.
func (f *Figure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", f.Title)
	for _, n := range f.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, k := range f.Keys {
		fmt.Fprintf(&b, "key %s: %s\n", k.Name, k.Style.text(k.Shape))
	}
	for i := range f.Panels {
		f.Panels[i].describe(&b)
	}
	return b.String()
}

func (p *Panel) describe(b *strings.Builder) {
	fmt.Fprintf(b, "panel\n  x %s\n  y %s\n", p.X.text(), p.Y.text())
	for _, r := range p.Rulers {
		fmt.Fprintf(b, "  ruler %g %s\n", r.At, r.Axis.text())
	}
	for _, m := range p.Marks {
		fmt.Fprintf(b, "  %s", m.Style.text(m.Shape))
		for i, x := range m.Points {
			if i == 12 {
				fmt.Fprintf(b, " and %d more", len(m.Points)-i)
				break
			}
			fmt.Fprintf(b, " %.4g,%.4g", x.X, x.Y)
		}
		b.WriteString("\n")
	}
}

func (a *Axis) text() string {
	if a.Hidden {
		return "hidden"
	}
	text := fmt.Sprintf("%q %.4g to %.4g", a.Label, a.Low, a.High)
	if a.Log {
		text += " log"
	}
	if a.Reversed {
		text += " reversed"
	}
	for _, t := range a.Ticks(6) {
		text += " | " + t.Text
	}
	return text
}

func (s Style) text(shape Shape) string {
	text := fmt.Sprintf("%s %v", shape, s.Colour)
	switch shape {
	case Dots:
		text += " " + string(s.Marker)
	case Line:
		text += " " + string(s.Dash)
	}
	if s.Faint {
		text += " faint"
	}
	return strings.TrimSpace(text)
}
