package main

import (
	"io"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// table is text in columns.
type table struct {
	head  []string
	right []bool // of each column: numbers stand to the right
	rows  [][]string
}

// column adds a column; right is for numbers.
func (t *table) column(name string, right bool) {
	t.head, t.right = append(t.head, name), append(t.right, right)
}

const (
	gap        = "  "
	leastWidth = 10 // columns are not made narrower
)

// write writes the table, at most width characters wide; 0 is as wide as it
// gets. bold makes the heading stand out.
func (t *table) write(w io.Writer, width int, bold func(string) string) error {
	widths := t.widths(width)
	var out strings.Builder
	if heading := t.line(t.head, widths); strings.TrimSpace(heading) != "" {
		out.WriteString(bold(heading) + "\n")
	}
	for _, row := range t.rows {
		out.WriteString(t.line(row, widths) + "\n")
	}
	if note := t.hidden(widths); note != "" {
		out.WriteString(runewidth.Truncate(note, width, "…") + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// hidden names the columns for which there is no room.
func (t *table) hidden(widths []int) string {
	var names []string
	for _, name := range t.head[len(widths):] {
		if name != "" {
			names = append(names, clean(name))
		}
	}
	if names == nil {
		return ""
	}
	return "… no room for " + strings.Join(names, ", ")
}

func (t *table) line(cells []string, widths []int) string {
	var out strings.Builder
	for i, width := range widths {
		if i > 0 {
			out.WriteString(gap)
		}
		cell := runewidth.Truncate(clean(cells[i]), width, "…")
		if t.right[i] {
			out.WriteString(runewidth.FillLeft(cell, width))
		} else {
			out.WriteString(runewidth.FillRight(cell, width))
		}
	}
	return strings.TrimRight(out.String(), " ")
}

// clean takes out what could steer a terminal: trials had a hand in the text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// widths makes the widest columns of text narrower until all fit, and leaves out
// the last ones where that is not enough. Numbers are never cut.
func (t *table) widths(limit int) []int {
	widths := make([]int, len(t.head))
	for i := range widths {
		widths[i] = runewidth.StringWidth(t.head[i])
		for _, row := range t.rows {
			widths[i] = max(widths[i], runewidth.StringWidth(clean(row[i])))
		}
	}
	for limit > 0 && len(widths) > 1 && total(widths) > limit {
		if i := t.widest(widths); i >= 0 {
			widths[i]--
		} else {
			widths = widths[:len(widths)-1]
		}
	}
	return widths
}

func total(widths []int) int {
	sum := max(len(widths)-1, 0) * len(gap)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// widest is the column to make narrower, or -1.
func (t *table) widest(widths []int) int {
	at, most := -1, leastWidth
	for i, w := range widths {
		if !t.right[i] && w > most {
			at, most = i, w
		}
	}
	return at
}
