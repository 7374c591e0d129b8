package host

import (
	"fmt"
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

// NewLog writes to a logger.
func NewLog(l hclog.Logger) *Log { return &Log{Logger: l, said: map[string]bool{}} }

// Once warns, the first time for a key.
func (l *Log) Once(key, text string) {
	if l.first(key) {
		l.Warn(text)
	}
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
