// Package hostlog is the experiment's log: the file host.log, and what of it the
// user sees at once. All of the host writes to it; what plugins and trials say is
// made harmless before (host/untrusted).
package hostlog

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Log is the experiment's log: host.log and, as far as the user wants to hear
// it, the terminal.
type Log struct {
	hclog.Logger
	mu   sync.Mutex
	said map[string]bool
}

// Open writes to a file, host.log; warnings go to the screen too, if there is one.
func Open(file io.Writer, screen *Screen) *Log {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: "tunehost", Level: hclog.Debug, Output: file, TimeFormat: time.RFC3339Nano})
	if screen != nil {
		l.RegisterSink(screen)
	}
	return New(l)
}

// New writes to a logger.
func New(l hclog.Logger) *Log { return &Log{Logger: l, said: map[string]bool{}} }

// Once warns, the first time for a key, and says whether this was it.
func (l *Log) Once(key, text string) bool {
	first := l.first(key)
	if first {
		l.Warn(text)
	}
	return first
}

// Slow names a slow part, once for each (B-126).
func (l *Log) Slow(what string, d time.Duration) {
	if l.first("slow " + what) {
		l.Warn(fmt.Sprintf("%s took %v; it is not said again", what, d.Round(time.Millisecond)))
	}
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
