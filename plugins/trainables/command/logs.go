package command

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
)

// A clock is the time of the last output of the program.
type clock struct{ last atomic.Int64 }

func (c *clock) reset()               { c.last.Store(time.Now().UnixNano()) }
func (c *clock) since() time.Duration { return time.Duration(time.Now().UnixNano() - c.last.Load()) }

// tailBytes is how much of the program's last output is kept.
const tailBytes = 4 << 10

// A tail is a writer that keeps the end of its input.
type tail struct {
	mu  sync.Mutex
	end []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, b[max(0, len(b)-tailBytes):]...)
	if len(t.end) > 2*tailBytes {
		t.end = append(t.end[:0], t.end[len(t.end)-tailBytes:]...)
	}
	return len(b), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.end)
}

// A logFile is one of the trial's log files, or nothing.
type logFile struct {
	*os.File
	from int64 // start of this attempt's part
}

// openLog appends to the log of earlier attempts. It also returns a log if it returns an error.
func openLog(dir, name string) (*logFile, error) {
	if name == "" {
		return &logFile{}, nil
	}
	f, err := openOwn(dir, name, os.O_APPEND|os.O_CREATE|os.O_RDWR)
	if err != nil {
		return &logFile{}, fmt.Errorf("cannot write the trial's log: %w", err)
	}
	l := &logFile{File: f}
	l.from = l.size()
	return l, nil
}

func (l *logFile) size() int64 {
	if l.File == nil {
		return 0
	}
	info, err := l.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// tail reads the end of this attempt's part.
func (l *logFile) tail() []byte {
	if l.File == nil {
		return nil
	}
	size := l.size()
	b := make([]byte, min(tailBytes, max(0, size-l.from)))
	n, _ := l.ReadAt(b, size-int64(len(b)))
	return b[:n]
}

func (l *logFile) close() {
	if l.File != nil {
		l.File.Close()
	}
}

// lastLines formats the end of a log for a message: at most ten lines, indented by two spaces,
// without control characters.
func lastLines(b []byte) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(b), "?")), "\n")
	lines = lines[max(0, len(lines)-10):]
	for i, l := range lines {
		l = strings.TrimRight(l, "\r \t")
		if r := []rune(l); len(r) > 400 {
			l = "…" + string(r[len(r)-400:])
		}
		lines[i] = "  " + strings.Map(printable, l)
	}
	return strings.Join(lines, "\n")
}

func printable(r rune) rune {
	if r == '\t' || unicode.IsPrint(r) {
		return r
	}
	return '?'
}
