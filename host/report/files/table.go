package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/view"
)

const fileMode = 0o600 // B-092

// table is one file of one trial, open for writing. Rows are in the order of their events' numbers.
type table struct {
	path    string
	format  Format
	writeAt writer
	moved   func(from, to string) // called when lines that are not ours are moved to another file
	file    *os.File              // nil while there is none
	size    int64                 // of the file's whole rows
	buf     []byte                // rows to come after them
	rows    bool                  // there is at least one row, in the file or in buf
	last    mark                  // of the last row
	gone    error                 // why rows could not be written anywhere

	// Of a CSV file:
	columns []string
	header  int     // how many of the columns the file has; the next flush gives it the others
	widths  []width // of the rows in buf
	index   map[string]int
	cells   []cell
	named   *fields // the fields that places is for
	places  []int   // columns of named.all; -1: none
}

// width is how many columns the rows have from an offset of buf on.
type width struct{ at, columns int }

// writer is (*os.File).WriteAt; tests have full disks.
type writer func(f *os.File, b []byte, at int64) (int, error)

// openTable reads the file if it exists, and makes none.
func openTable(dir string, format Format, w writer, moved func(from, to string)) (*table, error) {
	t := &table{path: filepath.Join(dir, format.File()), format: format, writeAt: w, moved: moved}
	return t, t.learn()
}

// learn opens the file, if it exists, and sets size, rows and columns.
func (t *table) learn() error {
	t.setColumns(nil)
	file, err := nolink.OpenFile(t.path, os.O_RDWR, fileMode)
	if errors.Is(err, os.ErrNotExist) {
		t.size, t.rows = 0, false
		return nil
	}
	if err != nil {
		return err
	}
	t.file = file
	if err := t.takeUp(); err != nil {
		return errors.Join(err, t.close())
	}
	return nil
}

// need opens the file again if it was closed; it is read again if it was changed.
func (t *table) need() error {
	if t.file != nil || t.size == 0 {
		return nil
	}
	file, err := nolink.OpenFile(t.path, os.O_RDWR, fileMode)
	if err != nil {
		return err
	}
	t.file = file
	if info, err := file.Stat(); err != nil || info.Size() != t.size {
		return errors.Join(err, t.close(), t.learn())
	}
	return nil
}

// takeUp reads the file and removes an incomplete row of a crash. A file that is not ours is renamed
// (B-155), and so are lines that are not.
func (t *table) takeUp() error {
	if ours, err := t.hasOurHeader(); err != nil || !ours {
		return errors.Join(err, t.putAside())
	}
	tail, err := readTail(t.file)
	if err != nil {
		return err
	}
	if err := t.cutAt(tail.end); err != nil {
		return err
	}
	t.size, t.rows = tail.end, false
	if t.format == CSV && t.size > 0 {
		if err := t.takeHeader(); err != nil {
			return err
		}
	}
	t.last, t.rows = readMark(tail.line, before[t.format])
	return t.mend()
}

// cutAt truncates the file, without a call if it already ends there.
func (t *table) cutAt(end int64) error {
	info, err := t.file.Stat()
	if err != nil || info.Size() == end {
		return err
	}
	return t.file.Truncate(end)
}

// takeHeader reads the columns.
func (t *table) takeHeader() error {
	line, err := readHead(t.file)
	if columns, ok := readHeader(line); ok {
		t.setColumns(columns)
	}
	return err
}

// hasOurHeader reports whether the first line is a header of this reporter. The line may be incomplete.
func (t *table) hasOurHeader() (bool, error) {
	line, err := readHead(t.file)
	if err != nil {
		return false, err
	}
	if !bytes.HasSuffix(line, newline) {
		parts := map[Format][]string{JSONL: before[JSONL][:], CSV: {strings.Join(hostFields, ",")}}[t.format]
		return begins(string(line), parts), nil
	}
	if t.format == CSV {
		_, ours := readHeader(line)
		return ours, nil
	}
	_, ours := readMark(line, before[JSONL])
	return ours, nil
}

// putAside gives the file a free name.
func (t *table) putAside() error {
	t.size, t.rows = 0, false
	to, err := t.aside()
	if err != nil {
		return err
	}
	return errors.Join(t.close(), nolink.Rename(t.path, to))
}

func (t *table) setColumns(columns []string) {
	t.columns, t.header, t.index, t.named = columns, len(columns), map[string]int{}, nil
	for i, name := range columns {
		t.index[name] = i
	}
	t.cells = make([]cell, len(columns))
}

// add appends a result's row, unless it is there.
func (t *table) add(e *view.Event, f *fields) error {
	if t.rows && t.last.event >= e.Number {
		return nil
	}
	switch t.format {
	case JSONL:
		t.buf = appendJSON(t.buf, e, f)
	case CSV:
		t.place(f)
		t.fill(e, f)
		if n := len(t.columns); len(t.buf) == 0 || t.widths[len(t.widths)-1].columns != n {
			t.widths = append(t.widths, width{len(t.buf), n})
		}
		t.buf = appendCSV(t.buf, e, f, t.cells)
	}
	t.last, t.rows = markOf(e), true
	return nil
}

// place finds a column for each field, which may be a new one.
func (t *table) place(f *fields) {
	if t.named == f {
		return
	}
	t.named, t.places = f, t.places[:0]
	for i := range f.all {
		column, ok := t.column(f.all[i].name)
		if !ok || f.all[i].unused {
			column = -1
		}
		t.places = append(t.places, column)
	}
}

// column returns the place of a metric; false if the table has no room for it.
func (t *table) column(name string) (int, bool) {
	if i, ok := t.index[name]; ok || len(t.columns) == maxColumns {
		return i, ok
	}
	i := len(t.columns)
	t.columns, t.cells = append(t.columns, name), append(t.cells, cell{})
	t.index[name] = i
	return i, true
}

func (t *table) fill(e *view.Event, f *fields) {
	clear(t.cells)
	for i, column := range t.places {
		if column >= 0 {
			t.cells[column] = cell{f.value(e.Result, i), true}
		}
	}
}

// cut removes what attempts before e reported after the iteration that e continues from (B-061),
// except in earlier stretches, which are not repeated.
func (t *table) cut(e *view.Event) error {
	if err := t.ready(); err != nil || !t.rows {
		return err
	}
	again := func(line []byte) bool {
		m, ok := readMark(line, before[t.format])
		return ok && m.event < e.Number && m.attempt < e.Trial.Attempt && m.attempt >= e.Trial.Since &&
			m.iteration > e.Restored
	}
	any := false
	if err := eachLine(t.file, t.size, func(line []byte) error { any = any || again(line); return nil }); err != nil ||
		!any {
		return err
	}
	return t.rewrite(func(to, line []byte) []byte {
		if again(line) {
			return to
		}
		return append(to, line...)
	}, nil)
}

// finish marks the last row before e done (B-012).
func (t *table) finish(e *view.Event) error {
	if t.last.done || t.last.event > e.Number {
		return nil
	}
	if err := t.ready(); err != nil || !t.rows {
		return err
	}
	tail, err := readTail(t.file)
	if err != nil || tail.line == nil {
		return err
	}
	line := bytes.Replace(tail.line, []byte("false"), []byte("true"), 1)
	if _, err := t.writeAt(t.file, line, tail.end-int64(len(tail.line))); err != nil {
		return err
	}
	t.size = tail.end - int64(len(tail.line)-len(line))
	t.last.done = true
	return t.file.Truncate(t.size)
}

// ready flushes and opens the file, if it exists, for reading.
func (t *table) ready() error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.need()
}

// flush writes what add has gathered; what could not be written stays, unless the directory or the
// file is gone.
func (t *table) flush() error {
	if len(t.buf) == 0 {
		return nil
	}
	err := t.find()
	if err == nil && t.file == nil {
		t.file, err = nolink.OpenFile(t.path, os.O_RDWR|os.O_CREATE, fileMode)
	}
	if errors.Is(err, os.ErrNotExist) {
		t.wrote()
		t.size, t.rows, t.gone = 0, false, err
		t.setColumns(nil)
		return nil
	}
	if err != nil {
		return err
	}
	if t.size > 0 && t.header < len(t.columns) {
		return t.widen()
	}
	rows := t.gathered()
	if _, err := t.writeAt(t.file, rows, t.size); err != nil {
		return err
	}
	t.size += int64(len(rows))
	t.header = len(t.columns)
	t.wrote()
	return nil
}

// wrote empties buf, which is in the file, or nowhere.
func (t *table) wrote() { t.buf, t.widths = t.buf[:0], t.widths[:0] }

// lost returns an error if the file was written, and is not in its place any more: a program or a user has removed or
// replaced it, or the directory.
func (t *table) lost() error {
	if t.size == 0 || t.file == nil {
		return t.gone
	}
	info, err := nolink.Lstat(t.path)
	if err != nil {
		return err
	}
	if mine, err := t.file.Stat(); err != nil || !os.SameFile(mine, info) {
		return fmt.Errorf("%s was replaced", t.path)
	}
	return nil
}

// close must come after a flush; what is in buf is lost.
func (t *table) close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}
