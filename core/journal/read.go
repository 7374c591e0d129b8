package journal

import (
	"errors"
	"io"
)

// readFull fills b from the start of file and returns the number of bytes; a shorter file is not an
// error.
func readFull(file io.ReaderAt, b []byte) (int, error) {
	n, err := file.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// noFrame reports whether err of scanner.next means that there is no complete frame, and the
// reason. It does not unwrap a replayError.
func noFrame(err error) (reason string, ok bool) {
	if err == io.EOF {
		return "the segment ends too early", true
	}
	bad, ok := err.(badFrame)
	return string(bad), ok
}
