package main

import (
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/tunehost/tunehost/host/untrusted"
)

// table is text in columns.
type table struct {
	head      []string
	right     []bool // of each column: numbers are aligned to the right
	hideFirst []bool // of each column: it is hidden before others
	sentences []bool // of each column: it has sentences
	rows      [][]string
}

// column adds a column; right is for numbers.
func (t *table) column(name string, right bool) {
	t.head, t.right, t.hideFirst = append(t.head, name), append(t.right, right), append(t.hideFirst, false)
	t.sentences = append(t.sentences, false)
}

// prose adds a column of sentences.
func (t *table) prose(name string) {
	t.column(name, false)
	t.sentences[len(t.sentences)-1] = true
}

// detail adds a column that is hidden before others if there is no room for all.
func (t *table) detail(name string, right bool) {
	t.column(name, right)
	t.hideFirst[len(t.hideFirst)-1] = true
}

const (
	gap        = "  "
	leastWidth = 10 // columns are not made narrower
	readWidth  = 24 // nor are columns that are no details, while details are shown
	proseWidth = 36 // nor are sentences then
	mostLines  = 4  // of a row: sentences continue below where they have no room
)

// write writes the table, at most width characters wide; 0 is no limit. bold makes the heading bold.
func (t *table) write(w io.Writer, width int, bold func(string) string) error {
	shown, widths := t.fit(width)
	var out strings.Builder
	if heading := t.line(t.head, shown, widths); strings.TrimSpace(heading) != "" {
		out.WriteString(bold(heading) + "\n")
	}
	for _, row := range t.rows {
		for _, line := range t.lines(row, shown, widths) {
			out.WriteString(line + "\n")
		}
	}
	if note := t.hidden(shown); note != "" {
		out.WriteString(ansi.Truncate(note, width, "…") + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// hidden names the columns for which there is no room.
func (t *table) hidden(shown []int) string {
	var names []string
	for i, name := range t.head {
		if name != "" && !slices.Contains(shown, i) {
			names = append(names, clean(name))
		}
	}
	if names == nil {
		return ""
	}
	return "… --json or a wider terminal shows " + strings.Join(names, ", ") // the names may be cut off
}

// lines are those of a row: sentences that have no room in one continue in the next.
func (t *table) lines(cells []string, shown, widths []int) (all []string) {
	parts, height := map[int][]string{}, 1
	for _, i := range shown {
		if t.sentences[i] {
			parts[i] = wrapped(clean(cells[i]), widths[i])
			height = max(height, len(parts[i]))
		}
	}
	for n := range height {
		line := make([]string, len(cells))
		if n == 0 {
			copy(line, cells)
		}
		for i, p := range parts {
			if line[i] = ""; n < len(p) {
				line[i] = p[n]
			}
		}
		all = append(all, t.line(line, shown, widths))
	}
	return all
}

// wrapped are the lines of a text, the last of which may be too long.
func wrapped(text string, width int) []string {
	lines := strings.Split(ansi.Wrap(text, width, ""), "\n")
	if len(lines) > mostLines {
		lines = append(lines[:mostLines-1], strings.Join(lines[mostLines-1:], " "))
	}
	return lines
}

func (t *table) line(cells []string, shown, widths []int) string {
	var out strings.Builder
	for n, i := range shown {
		if n > 0 {
			out.WriteString(gap)
		}
		cell := ansi.Truncate(clean(cells[i]), widths[i], "…")
		space := strings.Repeat(" ", max(widths[i]-ansi.StringWidth(cell), 0))
		if t.right[i] {
			out.WriteString(space + cell)
		} else {
			out.WriteString(cell + space)
		}
	}
	return strings.TrimRight(out.String(), " ")
}

// clean makes one line in which what could control a terminal is escaped: trials can influence the text.
func clean(s string) string {
	return untrusted.Visible(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s))
}

// fit returns which columns are shown, and how wide each is. It narrows the widest columns of text
// until all fit. If that is not enough, it hides the last details, then the last columns. Numbers are
// never cut.
func (t *table) fit(limit int) (shown, widths []int) {
	natural := t.natural()
	widths = slices.Clone(natural)
	for i := range widths {
		shown = append(shown, i)
	}
	for limit > 0 && len(shown) > 1 && total(shown, widths) > limit {
		if i := t.widest(shown, widths); i >= 0 {
			widths[i]--
			continue
		}
		shown = slices.Delete(shown, t.nextHidden(shown), t.nextHidden(shown)+1)
		copy(widths, natural) // there is more room now
	}
	return shown, widths
}

// natural returns the preferred widths of the columns.
func (t *table) natural() []int {
	widths := make([]int, len(t.head))
	for i := range widths {
		widths[i] = ansi.StringWidth(clean(t.head[i]))
		for _, row := range t.rows {
			widths[i] = max(widths[i], ansi.StringWidth(clean(row[i])))
		}
	}
	return widths
}

// nextHidden returns the index, among the shown columns, of the next one to hide.
func (t *table) nextHidden(shown []int) int {
	for n := len(shown) - 1; n >= 0; n-- {
		if t.hideFirst[shown[n]] {
			return n
		}
	}
	return len(shown) - 1
}

func total(shown, widths []int) int {
	sum := max(len(shown)-1, 0) * len(gap)
	for _, i := range shown {
		sum += widths[i]
	}
	return sum
}

// widest returns the column to make narrower, or -1: while details are shown, other columns keep room
// to be readable.
func (t *table) widest(shown, widths []int) int {
	least := leastWidth
	if t.hideFirst[shown[t.nextHidden(shown)]] {
		least = readWidth
	}
	at, most := -1, 0
	for _, i := range shown {
		w, bound := widths[i], least
		switch {
		case t.hideFirst[i]:
			bound = leastWidth
		case t.sentences[i] && least == readWidth:
			bound = proseWidth
		}
		if !t.right[i] && w > bound && w > most {
			at, most = i, w
		}
	}
	return at
}
