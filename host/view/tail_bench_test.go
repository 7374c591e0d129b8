package view_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/journalview"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// tailPiece is how much a busy host records between two looks of a page.
const tailPiece = 150_000

// BenchmarkTail follows a record that grows, as a server does: 81,000 results, each with a decision. It counts the
// processor time for a result, of the whole program. The floor reads the same bytes and checks their sums, no more.
func BenchmarkTail(b *testing.B) {
	for _, x := range []struct {
		name   string
		reader func(b *testing.B, dir string) func()
	}{{"server", server}, {"floor", floor}} {
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			var used time.Duration
			for b.Loop() {
				used += follow(b, x.reader)
			}
			b.ReportMetric(float64(used.Nanoseconds())/1000/tailResults/float64(b.N), "cpu-µs/result")
		})
	}
}

// server reads as a server does, with all that it keeps for its answers.
func server(b *testing.B, dir string) func() {
	e, err := view.OpenFollowed(dir, journalview.NewTail().After)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	return func() {
		if _, err := e.Refresh(); err != nil {
			b.Fatal(err)
		}
	}
}

func floor(b *testing.B, dir string) func() {
	files, err := journal.OpenDir(filepath.Join(dir, "journal"))
	if err != nil {
		b.Fatal(err)
	}
	r := journal.NewReader(files)
	b.Cleanup(func() { _ = errors.Join(r.Close(), files.Close()) })
	return func() {
		for {
			if _, _, err := r.Next(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// tailTrials is how many trials the record has.
const (
	tailTrials  = "3000"
	tailResults = 3000 * 27
)

// follow has the record grow, and returns the processor time that this and its reader took.
func follow(b *testing.B, reader func(b *testing.B, dir string) func()) time.Duration {
	b.StopTimer()
	dir := filepath.Join(b.TempDir(), "tail")
	w := viewtest.New(dir, []byte("version: 1\nobjective: {metric: accuracy, mode: max}\nspace: {lr: {loguniform: "+
		"[1e-4, 1]}}\ntrials: "+tailTrials+"\n"), 1)
	w.Iterations, w.Decided = 27, true
	w.Start(16)
	w.Run(-1)
	w.Close()
	path := filepath.Join(dir, "journal")
	all, err := os.ReadDir(path)
	if err != nil || len(all) != 1 {
		b.Fatal(all, err)
	}
	path = filepath.Join(path, all[0].Name())
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, text[:tailPiece], 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
	read := reader(b, dir)
	runtime.GC() // what was written is nobody's cost
	b.StartTimer()
	before := processor(b)
	grow(b, path, text[tailPiece:], read)
	return processor(b) - before
}

// grow appends a text to a file, and calls read after each piece of it.
func grow(b *testing.B, path string, text []byte, read func()) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	for len(text) > 0 {
		n := min(tailPiece, len(text))
		if _, err := f.Write(text[:n]); err != nil {
			b.Fatal(err)
		}
		text = text[n:]
		read()
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// processor is the processor time of this program so far.
func processor(b *testing.B) time.Duration {
	var x syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &x); err != nil {
		b.Fatal(err)
	}
	return time.Duration(x.Utime.Nano() + x.Stime.Nano())
}
