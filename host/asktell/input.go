package asktell

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// Input is the caller's lines. They are read by a goroutine of their own, so
// that the wait for one can be given up.
type Input struct {
	lines chan line
	stop  chan struct{}
}

type line struct {
	text []byte
	cut  bool
	err  error
}

// Read begins to read lines.
func Read(r io.Reader) *Input {
	in := &Input{lines: make(chan line), stop: make(chan struct{})}
	go in.read(channel.NewLines(bufio.NewReaderSize(r, 1<<16)))
	return in
}

func (in *Input) read(lines *channel.Lines) {
	for {
		text, cut, err := lines.Next()
		select {
		case in.lines <- line{bytes.Clone(text), cut, err}:
		case <-in.stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// Next returns the next line; io.EOF after the last, and
// errLong for one that is too long.
func (in *Input) Next(ctx context.Context) ([]byte, error) {
	select {
	case l := <-in.lines:
		if l.cut {
			return nil, errLong
		}
		return l.text, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close stops reading; a read that waits for the caller ends with its input.
func (in *Input) Close() { close(in.stop) }

// errLong is the error of a line that is too long; the next one can be read.
var errLong = fmt.Errorf("the line is longer than %d bytes", channel.MaxLineBytes)
