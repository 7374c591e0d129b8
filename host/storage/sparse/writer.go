package sparse

import (
	"bytes"
	"io"
	"os"
)

// Writer writes to the end of a file, and leaves long runs of zeros out, which are holes of the file. What comes over a
// connection or from a storage does not say where the holes were.
type Writer struct{ f *os.File }

// NewWriter returns a writer to a file, which is at its end.
func NewWriter(f *os.File) *Writer { return &Writer{f} }

// block is the least number of zeros that are left out. File systems allocate no less than that.
const block = 4096

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		m, hole := run(p[n:])
		if hole {
			_, err = w.f.Seek(int64(m), io.SeekCurrent)
		} else {
			m, err = w.f.Write(p[n : n+m])
		}
		n += m
	}
	return n, err
}

// run returns how many of the bytes, in whole blocks and the rest, are zeros alone, or else have something.
func run(p []byte) (n int, hole bool) {
	for n < len(p) {
		x := p[n:min(n+block, len(p))]
		zero := len(x) == block && bytes.Equal(x, zeros[:block])
		if n == 0 {
			hole = zero
		} else if zero != hole {
			break
		}
		n += len(x)
	}
	return n, hole
}

// End gives the file its size, if it ends with a hole.
func (w *Writer) End() error {
	size, err := w.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	return w.f.Truncate(size)
}
