package view

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Text is a part of a file that grows: whole lines.
type Text struct {
	Lines []byte
	// Next is where to read on.
	Next int64
}

// mostText is how much of a file is read at a time, in bytes.
const mostText = 1 << 20

// Log is the host's log from a place on, in bytes; below 0: so many before its end.
func (e *Experiment) Log(from int64) (Text, error) { return textOf(e.Dir.Log(), from) }

// textOf reads whole lines; none where the file is not there. A file that has become shorter
// was begun anew, and is read from its beginning. A line longer than mostText comes in parts.
func textOf(path string, from int64) (Text, error) {
	f, err := nolink.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Text{}, nil
	}
	if err != nil {
		return Text{}, err
	}
	defer f.Close()
	at, err := begin(f, from)
	if err != nil {
		return Text{}, err
	}
	lines, err := io.ReadAll(io.NewSectionReader(f, at, mostText))
	if whole := bytes.LastIndexByte(lines, '\n') + 1; whole > 0 || len(lines) < mostText {
		lines = lines[:whole]
	}
	return Text{lines, at + int64(len(lines))}, err
}

// begin is where to begin: after the end of a line, where only the last bytes are wanted.
func begin(f *os.File, from int64) (int64, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return 0, err
	case from >= 0 && from <= info.Size():
		return from, nil
	case from >= 0 || info.Size()+from <= 0:
		return 0, nil
	}
	at := info.Size() + from
	head, err := io.ReadAll(io.NewSectionReader(f, at-1, -from+1))
	return at + int64(bytes.IndexByte(head, '\n')), err
}
