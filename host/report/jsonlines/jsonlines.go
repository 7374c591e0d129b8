package jsonlines

import (
	"io"

	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/host/view"
)

// Reporter writes events as lines, each batch in one piece.
type Reporter struct {
	out io.Writer
	buf []byte
}

var _ report.Reporter = (*Reporter)(nil)

// New writes to out, which Close does not close.
func New(out io.Writer) *Reporter { return &Reporter{out: out} }

// Report implements report.Reporter.
func (r *Reporter) Report(events []view.Event) error {
	r.buf = r.buf[:0]
	for i := range events {
		r.buf = events[i].AppendJSON(r.buf)
	}
	if len(r.buf) == 0 {
		return nil
	}
	_, err := r.out.Write(r.buf)
	return err
}

// Close implements report.Reporter.
func (r *Reporter) Close() error { return nil }
