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
	mu   sync.Mutex
	out  io.Writer
	logs string // where the rest can be read
	seen map[string]int
}

// NewScreen writes to out, and says where the rest can be read.
func NewScreen(out io.Writer, logs string) *Screen {
	return &Screen{out: out, logs: logs, seen: map[string]int{}}
}

// To changes where the lines go: past a table that is redrawn, say.
func (s *Screen) To(out io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = out
}

// Accept implements hclog.SinkAdapter.
func (s *Screen) Accept(_ string, level hclog.Level, msg string, _ ...any) {
	if level < hclog.Warn {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := msg
	if _, text, ok := strings.Cut(msg, ": "); ok && strings.HasPrefix(msg, "trial ") {
		kind = text
	}
	s.seen[kind]++
	word := "warning"
	if level >= hclog.Error {
		word = "error"
	}
	switch n := s.seen[kind]; {
	case n <= sameWarnings:
		fmt.Fprintf(s.out, "%s: %s\n", word, msg)
	case n == sameWarnings+1:
		fmt.Fprintf(s.out, "%s: more of the same are in %s\n", word, s.logs)
	}
}
