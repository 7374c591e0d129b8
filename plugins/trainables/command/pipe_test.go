package command

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// Output written before a program's end is read, even if this process reads it after the deadline;
// endless output is not.
func TestPipeIsReadLate(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close() // a writer is left
	if _, err := w.WriteString("the last result\n"); err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	end := &pipeEnd{File: r}
	got, err := io.ReadAll(end)
	if string(got) != "the last result\n" || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v", got, err)
	}
	go func() {
		for _, err := w.Write(bytes.Repeat([]byte("x"), 1<<16)); err == nil; {
			_, err = w.Write(bytes.Repeat([]byte("x"), 1<<16))
		}
	}()
	if rest, err := io.ReadAll(end); len(rest) > maxLate+1<<16 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes of one that never ends, %v", len(rest), err)
	}
}
