package files

import (
	"bytes"
	"slices"
)

// A file gets new columns when the rows of a batch are written, and not with each of them: each time, all of it is
// written anew. So a trial whose results all have new names costs as much as the results that come meanwhile.

var newline = []byte{'\n'}

// find is need for a table with rows in buf, which have their columns, whatever the file has.
func (t *table) find() error {
	want, last := t.columns, t.last
	if err := t.need(); err != nil {
		return err
	}
	t.last, t.rows = last, true
	if t.format != CSV || slices.Equal(t.columns, want) {
		return nil
	}
	found, n := t.columns, min(len(t.columns), len(want))
	if !slices.Equal(found[:n], want[:n]) {
		if err := t.putAside(); err != nil {
			return err
		}
		t.rows, found = true, nil
	}
	if len(found) > len(want) {
		want = append(slices.Clone(want), found[len(want):]...)
	}
	t.setColumns(want)
	t.header = len(found)
	return nil
}

// gathered returns the rows in buf, each with all columns, after the header if the file has none.
func (t *table) gathered() []byte {
	if t.format != CSV {
		return t.buf
	}
	var to []byte
	if t.size == 0 {
		to = appendHeader(to, t.columns)
	} else if len(t.widths) == 1 && t.widths[0].columns == len(t.columns) {
		return t.buf
	}
	for i, w := range t.widths {
		end := len(t.buf)
		if i+1 < len(t.widths) {
			end = t.widths[i+1].at
		}
		to = appendWider(to, t.buf[w.at:end], len(t.columns)-w.columns)
	}
	return to
}

// appendWider appends rows with that many empty cells more.
func appendWider(to, rows []byte, more int) []byte {
	if more == 0 {
		return append(to, rows...)
	}
	commas := bytes.Repeat([]byte{','}, more)
	for row := range bytes.Lines(rows) {
		to = append(to, bytes.TrimSuffix(row, newline)...)
		to = append(append(to, commas...), '\n')
	}
	return to
}

// widen gives the file the longer header, each row as many empty cells, and the rows in buf.
func (t *table) widen() error {
	columns, more, header := t.columns, len(t.columns)-t.header, true
	err := t.rewrite(func(to, line []byte) []byte {
		if header {
			header = false
			return appendHeader(to, columns)
		}
		return appendWider(to, line, more)
	}, t.gathered())
	if err == nil {
		t.setColumns(columns)
	}
	return err
}
