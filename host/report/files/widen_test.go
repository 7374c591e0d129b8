package files

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/view"
)

// wider are results of trial 0, each with a metric that is new.
func wider(s *story, from, to int) {
	for i := from; i <= to; i++ {
		s.result(0, 1, uint64(i), acc(float64(i)), view.Metric{Name: fmt.Sprintf("m%d", i), Value: 1})
	}
}

// wide checks that a table has the results up to one, each metric in its column.
func wide(t *testing.T, dir string, results int) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(read(t, dir, 0, CSV.File()))).ReadAll()
	if err != nil || len(all) != results+1 || len(all[0]) != len(hostFields)+1+results {
		t.Fatalf("%d rows, %v", len(all), err)
	}
	for i := 1; i <= results; i++ {
		column := slices.Index(all[0], fmt.Sprintf("m%d", i))
		for k := 1; k <= results; k++ {
			if got := all[k][column]; (got == "1") != (k == i) {
				t.Errorf("result %d has %q for m%d", k, got, i)
			}
		}
	}
}

// New metrics of a batch cost one new file, however many they are.
func TestNewMetricsOfABatch(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	r, written := newReporter(s.dir), 0
	r.open.writeAt = func(f *os.File, b []byte, at int64) (int, error) {
		written++
		return f.WriteAt(b, at)
	}
	r.open.formats = []Format{CSV}
	wider(s, 1, 40)
	if err := r.Report(s.events); err != nil {
		t.Fatal(err)
	}
	if written != 1 {
		t.Errorf("a new table was written in %d parts", written)
	}
	wide(t, s.dir, 40)
	before := len(s.events)
	wider(s, 41, 60)
	table := r.open.trials[0].tables[0]
	for i := range s.events[before:] {
		e := &s.events[before+i]
		if err := table.add(e, r.naming.of(e.Result)); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(read(t, s.dir, 0, CSV.File()), "\n"); n != 41 {
			t.Fatalf("the table has %d lines before the end of the batch", n)
		}
	}
	write(t, r, s.events[before:])
	wide(t, s.dir, 60)
	write(t, newReporter(s.dir), s.events) // all of them again
	wide(t, s.dir, 60)
}

// Rows with new columns wait in memory while the disk is full, and a file that somebody has changed meanwhile gets them
// in their columns.
func TestNewMetricsThatWait(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	r, full := newReporter(s.dir), false
	r.open.writeAt = func(f *os.File, b []byte, at int64) (int, error) {
		if full {
			return 0, &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
		}
		return f.WriteAt(b, at)
	}
	for i := 1; i <= 6; i++ {
		full = i == 1 || i == 4
		before := len(s.events)
		wider(s, i, i)
		if err := r.Report(s.events[before:]); err != nil {
			t.Fatal(err)
		}
	}
	write(t, r, nil)
	wide(t, s.dir, 6)
}

// The columns that a batch adds to a file that was closed and changed by somebody are those of its rows.
func TestNewMetricsOfAChangedFile(t *testing.T) {
	s := &story{dir: newDir(t, 2)}
	r := New(Options{Dir: s.dir, Formats: []Format{CSV}, Now: newReporter(s.dir).now, MaxOpen: 1})
	r.sync = func(string) error { return nil }
	s.result(1, 1, 1, acc(1)) // its file stays open
	wider(s, 1, 3)
	if err := r.Report(s.events); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(trialDir(s.dir, 0), CSV.File())
	text := read(t, s.dir, 0, CSV.File())
	if err := os.WriteFile(path, []byte(text+"mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(s.events)
	wider(s, 4, 6)
	write(t, r, s.events[before:])
	wide(t, s.dir, 6)
}
