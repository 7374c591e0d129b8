package sandbox

import (
	"bytes"
	"os"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/untrusted"
)

// Limits of what an error has of an instance's output.
const (
	saidLines = 3
	saidBytes = 300 // of each
)

// said keeps the last lines of an instance: a module that trains is one of many in its process, so that the process's
// own last lines may be another one's.
type said struct {
	lines []string
	begun []byte // a line of WASI's output that has not ended
}

// add keeps a line. Behind a line about a panic come only stacks.
func (s *said) add(line string) {
	line = untrusted.Line(strings.TrimSpace(line), saidBytes)
	if line == "" || s.panicked() {
		return
	}
	s.lines = append(s.lines[max(0, len(s.lines)-saidLines+1):], line)
}

func (s *said) panicked() bool {
	return slices.ContainsFunc(s.lines, func(line string) bool {
		return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
	})
}

// Write implements io.Writer for what the module prints, which goes to the log of the plugin.
func (s *said) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		s.begun = append(s.begun, part[:min(len(part), max(0, saidBytes+1-len(s.begun)))]...)
		if bytes.HasSuffix(part, []byte("\n")) {
			s.add(string(s.begun))
			s.begun = s.begun[:0]
		}
	}
	return os.Stderr.Write(p)
}

// last is the end of an error's text.
func (s *said) last() string {
	s.add(string(s.begun))
	if len(s.lines) == 0 {
		return ""
	}
	return "; its last output: " + strings.Join(s.lines, " / ")
}
