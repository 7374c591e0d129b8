// Package hostlog is the experiment's log: the file host.log, and the part of it that the user sees at
// once. All of the host writes to it; texts of plugins and trials are escaped before (host/untrusted).
package hostlog

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Log is the experiment's log: host.log and, for warnings, the terminal.
type Log struct {
	hclog.Logger
	screen *Screen // nil: none
	mu     sync.Mutex
	said   map[string]bool
	kinds  []*counted
}

// counted is a kind of warnings that many may cause.
type counted struct {
	kind string
	of   map[string]bool
	sum  func(n int) string
}

// Open writes to a file, host.log; warnings also go to the screen, if there is one.
func Open(file io.Writer, screen *Screen) *Log {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: "tunehost", Level: hclog.Debug, Output: file,
		TimeFormat: time.RFC3339Nano})
	if screen != nil {
		l.RegisterSink(screen)
	}
	log := New(l)
	log.screen = screen
	return log
}

// New writes to a logger.
func New(l hclog.Logger) *Log { return &Log{Logger: l, said: map[string]bool{}} }

// Once warns, the first time for a key, and reports whether this was the first time.
func (l *Log) Once(key, text string) bool {
	first := l.first(key)
	if first {
		l.Warn(text)
	}
	return first
}

// Insist warns, also on a quiet screen: of what the user must know at every verbosity.
func (l *Log) Insist(text string) {
	l.Warn(text)
	if l.screen != nil {
		l.screen.insist(text)
	}
}

// InsistOnce is Insist the first time for a key, and reports whether this was the first time.
func (l *Log) InsistOnce(key, text string) bool {
	first := l.first(key)
	if first {
		l.Insist(text)
	}
	return first
}

// Slow names a slow part, once for each (B-126).
func (l *Log) Slow(what string, d time.Duration) {
	if l.first("slow " + what) {
		l.Warn(fmt.Sprintf("%s took %v; this is reported only once", what, d.Round(time.Millisecond)))
	}
}

// Counted warns the first time for a kind. Later warnings of the kind are in host.log alone, and [Log.Counts] says how
// many trials or other subjects (of) they were about.
func (l *Log) Counted(kind, of, text string, sum func(n int) string) {
	if l.count(kind, of, sum) {
		l.Warn(text + "; more of this kind is in host.log alone")
		return
	}
	l.Info(text)
}

func (l *Log) count(kind, of string, sum func(n int) string) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.kinds, func(c *counted) bool { return c.kind == kind })
	if i < 0 {
		l.kinds = append(l.kinds, &counted{kind, map[string]bool{of: true}, sum})
		return true
	}
	l.kinds[i].of[of] = true
	return false
}

// Counts returns a line for each kind of counted warnings that several have caused.
func (l *Log) Counts() (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.kinds {
		if n := len(c.of); n > 1 {
			lines = append(lines, c.sum(n))
		}
	}
	return lines
}

func (l *Log) first(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.said[key] {
		return false
	}
	l.said[key] = true
	return true
}
