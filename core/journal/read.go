package journal

import (
	"errors"
	"io"
)

// readFull fills b from the start of file and returns how much there was; a file that is shorter is no error.
func readFull(file io.ReaderAt, b []byte) (int, error) {
	n, err := file.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// noFrame says whether err of scanner.next means that there is no whole frame, and why. It does not look into
// a replayError.
func noFrame(err error) (reason string, ok bool) {
	if err == io.EOF {
		return "the segment ends too early", true
	}
	bad, ok := err.(badFrame)
	return string(bad), ok
}
