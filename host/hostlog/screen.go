package hostlog

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
)

// sameWarnings is how many warnings of one kind are shown; host.log has all.
const sameWarnings = 3

// Screen shows warnings and errors to the user, one line each.
type Screen struct {
	mu    sync.Mutex
	out   io.Writer
	logs  string // the file with all messages
	seen  map[string]int
	quiet bool // shows only what is insisted on
}

// NewScreen writes to out, and names the file with all messages; "": none.
func NewScreen(out io.Writer, logs string) *Screen {
	return &Screen{out: out, logs: logs, seen: map[string]int{}}
}

// Quiet makes it show only what Log.Insist and Log.InsistOnce say.
func (s *Screen) Quiet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet = true
}

// insist shows a warning that a quiet screen has not shown.
func (s *Screen) insist(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quiet {
		fmt.Fprintf(s.out, "warning: %s\n", text)
	}
}

// To changes where the lines go, for example past a table that is redrawn.
func (s *Screen) To(out io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = out
}

// Accept implements hclog.SinkAdapter.
func (s *Screen) Accept(_ string, level hclog.Level, msg string, args ...any) {
	if level < hclog.Warn {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quiet {
		return
	}
	kind := msg
	if _, text, ok := strings.Cut(msg, ": "); ok && strings.HasPrefix(msg, "trial ") {
		kind = text
	}
	s.seen[kind]++
	word := "warning"
	if level >= hclog.Error {
		word = "error"
	}
	trace := traceIn(args)
	switch n := s.seen[kind]; {
	case n > 1 && len(trace) > 0: // the same one was shown before
	case n <= sameWarnings:
		fmt.Fprintf(s.out, "%s: %s%s\n", word, speaker(args), msg)
		for _, line := range trace {
			fmt.Fprintf(s.out, "    %s\n", line)
		}
	case n == sameWarnings+1:
		fmt.Fprintf(s.out, "%s: more of the same are %s\n", word, s.rest())
	}
}

// speaker names the plugin that a message is from; "" if it is from the host.
func speaker(args []any) string {
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == "plugin" {
			return fmt.Sprint(args[i+1]) + ": "
		}
	}
	return ""
}

// rest says where the hidden lines are.
func (s *Screen) rest() string {
	if s.logs == "" {
		return "not shown"
	}
	return "in " + s.logs
}

// Fields of tracebacks. The one without the lines of libraries is preferred.
const (
	traceback = "traceback"
	stack     = "stack"
)

// maxTrace is how many lines of a traceback are shown: the last ones, where the mistake is.
const maxTrace = 30

// traceIn returns the traceback among a message's fields, if there is one.
func traceIn(args []any) []string {
	for i := 0; i+1 < len(args); i += 2 {
		text, ok := args[i+1].(string)
		if name, _ := args[i].(string); !ok || name != traceback && name != stack {
			continue
		}
		lines := strings.Split(text, "\n")
		if n := len(lines) - maxTrace; n > 0 {
			lines = append([]string{fmt.Sprintf("(%d lines before that are in the log)", n)}, lines[n:]...)
		}
		return lines
	}
	return nil
}
