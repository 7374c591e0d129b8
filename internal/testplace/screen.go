package testplace

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// Screen keeps what several goroutines write. The zero value is empty.
type Screen struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

// String returns what was written.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// Reset forgets what was written.
func (s *Screen) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Reset()
}

// Await waits until a text is there.
func (s *Screen) Await(t testing.TB, text string) {
	t.Helper()
	if !happens(func() bool { return strings.Contains(s.String(), text) }) {
		t.Fatalf("%q is not said: %s", text, s)
	}
}

// patience is for what happens by itself, on a machine that is busy.
const patience = 2 * time.Minute

// Soon waits until ok.
func Soon(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !happens(ok) {
		t.Fatalf("%s did not happen", what)
	}
}

func happens(ok func() bool) bool {
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
