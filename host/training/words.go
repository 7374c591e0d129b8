package training

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/untrusted"
)

// tailBytes is how much of a trial's stderr is looked at.
const tailBytes = 4 << 10

// lastWords adds to the failure of a trial whose process is gone what that wrote to the
// trial's own stderr last, which the process's log does not have. Of a later attempt it is
// only said where: the words may be an earlier one's.
func lastWords(failure, path string, attempt uint32) string {
	if path == "" {
		return failure
	}
	words := tail(path)
	switch {
	case len(words) == 0:
		return failure
	case attempt > 1:
		return fmt.Sprintf("%s; its stderr is in %s", failure, path)
	}
	line := string(words[bytes.LastIndexByte(words, '\n')+1:])
	return fmt.Sprintf("%s; its stderr, in %s, ends: %s", failure, path, untrusted.Line(line, untrusted.MaxText))
}

// stderrFile is where the run's stderr is, or nothing.
func (r *run) stderrFile() string {
	name := "stderr"
	if r.start != nil && r.start.Logs != nil {
		name = r.start.Logs.Stderr
	}
	if r.dir == "" || name == "" {
		return ""
	}
	return filepath.Join(r.dir, name)
}

// tail is the end of a file without white space around it; nothing of one that cannot be read.
func tail(path string) []byte {
	f, err := nolink.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	b := make([]byte, min(tailBytes, info.Size()))
	n, err := f.ReadAt(b, info.Size()-int64(len(b)))
	if err != nil && err != io.EOF {
		return nil
	}
	return bytes.TrimSpace(b[:n])
}
