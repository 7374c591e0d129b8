package attempt

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/untrusted"
)

// tailBytes is how much of the end of a trial's stderr is read.
const tailBytes = 4 << 10

// withLastLine adds the last line of the trial's stderr to a failure; the process's log does not
// have it. For a later attempt it adds only the path, since the line may be from an earlier one.
func withLastLine(failure, path string, attempt uint32) string {
	if path == "" {
		return failure
	}
	text := tail(path)
	switch {
	case len(text) == 0:
		return failure
	case attempt > 1:
		return fmt.Sprintf("%s; its stderr is in %s", failure, path)
	}
	line := string(text[bytes.LastIndexByte(text, '\n')+1:])
	return fmt.Sprintf("%s; its stderr, in %s, ends: %s", failure, path, untrusted.Line(line, untrusted.MaxText))
}

// pathsHere replaces the trial's directory on its node by the host's in a text: the node's is removed with its lease.
func (r *run) pathsHere(text string) string {
	if r.start == nil || r.start.Dir == "" || r.dir == "" || r.start.Dir == r.dir {
		return text
	}
	const end = string(filepath.Separator)
	return strings.ReplaceAll(text, r.start.Dir+end, r.dir+end)
}

// stderrFile returns the path of the run's stderr, or "".
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

// tail returns the end of a file without surrounding white space, or nil if it cannot be read.
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
