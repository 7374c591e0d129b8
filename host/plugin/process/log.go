package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/untrusted"
)

// Limits of what a plugin may print.
const (
	maxLine      = 64 << 10 // bytes of one line; the rest of it is dropped
	tailLines    = 6        // lines kept for messages
	maxTailBytes = 300      // of each
)

// Line is one line that a plugin printed, with control characters escaped.
type Line struct {
	Stream string // "stdout" or "stderr"
	// Level is the level of a line in hclog's JSON ("info"), "error" for the first line of a Go panic,
	// else "".
	Level string
	Text  string
	// Traces are the fields of a line in hclog's JSON that have several lines, such as a traceback.
	Traces []Trace
}

// Trace is a field of several lines, each with control characters escaped.
type Trace struct {
	Name  string
	Lines []string
}

// lineWriter splits a stream into lines.
type lineWriter struct {
	to     *output
	stream string
	line   []byte
	cut    bool // skipping the rest of a long line
}

// Write implements io.Writer and never fails.
func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte{'\n'})
		p = rest
		if room := maxLine - len(w.line); len(part) > room {
			part, w.cut = part[:room], true
		}
		w.line = append(w.line, part...)
		if ended {
			w.flush()
		}
	}
	return n, nil
}

// flush ends the current line, if there is one.
func (w *lineWriter) flush() {
	if len(w.line) > 0 {
		w.to.add(w.stream, w.line, w.cut)
	}
	w.line, w.cut = w.line[:0], false
}

// Close ends the last line.
func (w *lineWriter) Close() error {
	w.flush()
	return nil
}

// output passes on what a process prints, at a limited rate, and keeps the end of it.
type output struct {
	mu   sync.Mutex
	log  func(Line)
	tail []string
	// shortage is the first line that says that the system lacks room for the process.
	shortage string
	// traced is the last line that came with a traceback; the answer to the call has the same text.
	traced string
	// panic is the first line of a Go panic, with the place of the first frame that may be the author's.
	panic  string
	placed bool
	rate   untrusted.Rate
	// missing is the line about a package that the program lacks.
	missing string
}

func newOutput(log func(Line)) *output {
	if log == nil {
		log = func(Line) {}
	}
	return &output{log: log}
}

func (o *output) add(stream string, raw []byte, cut bool) {
	if cut {
		raw = closed(raw)
	}
	l := parseLine(raw)
	l.Stream, l.Text = stream, untrusted.Line(l.Text, maxLine)
	if cut {
		l.Text += " [cut]"
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.remember(l.Text, len(l.Traces) > 0)
	if !o.rate.Take(l.bytes(), time.Now()) {
		return
	}
	o.reportDropped()
	o.log(l)
}

func (o *output) reportDropped() {
	text, first := o.rate.Dropped()
	if first {
		o.log(Line{Stream: "stderr", Level: "warn", Text: untrusted.Flooding})
	}
	if text != "" {
		o.log(Line{Stream: "stderr", Text: text})
	}
}

// finish is called when the process has ended.
func (o *output) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reportDropped()
}

// remember keeps the end of the output for messages. Of a Go panic it keeps the first line, not the
// stacks.
func (o *output) remember(text string, traced bool) {
	if traced {
		o.traced = short(text)
	}
	text = short(text)
	switch place := frameOf(text); {
	case o.panic == "" && isPanic(text):
		o.panic = text
	case o.panic != "" && !o.placed && place != "":
		o.panic, o.placed = o.panic+" ("+place+")", true
	}
	if o.shortage == "" && saysShortage(text) {
		o.shortage = text
	}
	if len(o.tail) == tailLines {
		o.tail = append(o.tail[:0], o.tail[1:]...)
	}
	o.tail = append(o.tail, text)
	if o.missing == "" && saysMissing(text) {
		o.missing = text
	}
}

// saysMissing recognizes the line of Node about a package that is not installed, which a long stack follows.
func saysMissing(text string) bool {
	return strings.Contains(text, "Error [ERR_MODULE_NOT_FOUND]: ") ||
		strings.HasPrefix(text, "Error: Cannot find module ")
}

// frameOf returns FILE:LINE of a line of a Go program's stack, "\t/dir/main.go:33 +0x1d"; "" for other lines and for
// frames of Go's own packages and of modules.
func frameOf(text string) string {
	at, isFrame := strings.CutPrefix(text, "\t")
	at, _, _ = strings.Cut(at, " ")
	if file, _, ok := strings.Cut(at, ".go:"); !isFrame || !ok || strings.HasPrefix(file, "runtime/") ||
		strings.Contains(file, "/go/src/") || strings.Contains(file, "/pkg/mod/") {
		return ""
	}
	return filepath.Base(at)
}

func short(text string) string {
	if len(text) > maxTailBytes {
		return strings.ToValidUTF8(text[:maxTailBytes], "") + "…"
	}
	return text
}

// besideTrace returns the last lines except the one that came with a traceback.
func (o *output) besideTrace() []string {
	lines := o.last()
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(lines, func(line string) bool { return o.traced != "" && line == o.traced })
}

// last returns the lines for a message, oldest first.
func (o *output) last() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shortage != "" {
		return []string{o.shortage}
	}
	if o.panic != "" {
		return []string{o.panic}
	}
	if o.missing != "" {
		return []string{o.missing}
	}
	return slices.Clone(o.tail)
}

// printed reports whether the process has printed anything.
func (o *output) printed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.tail) > 0
}

// lacks reports whether the process has said that it could not start a thread or process.
func (o *output) lacks() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.shortage != ""
}

// saysShortage recognizes the last output of shells and of programs in C, Go, Python and Rust that cannot
// start a thread or process, or get memory for one.
func saysShortage(text string) bool {
	return slices.ContainsFunc([]string{
		"Resource temporarily unavailable", "failed to create new OS thread", "can't start new thread",
		"cannot allocate memory",
		"Cannot allocate memory", "Cannot fork",
	}, func(words string) bool { return strings.Contains(text, words) })
}

func isPanic(text string) bool {
	return strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ")
}

// translate translates the last line of a Go program that cannot start a thread.
func translate(text string) string {
	if text == "fatal error: newosproc" {
		return "fatal error: it could start no thread; raise the limit of processes (ulimit -u)"
	}
	return text
}

// parseLine reads a line as hclog's JSON if it is that, else as text.
func parseLine(raw []byte) Line {
	plain := Line{Text: translate(string(raw))}
	if isPanic(plain.Text) {
		plain.Level = "error"
	}
	if len(raw) == 0 || raw[0] != '{' {
		return plain
	}
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return plain
	}
	text, ok := fields["@message"].(string)
	level, ok2 := fields["@level"].(string)
	if !ok || !ok2 {
		return plain
	}
	return Line{Level: level, Text: text + keyValues(fields), Traces: traces(fields)}
}

// closed ends the JSON of a line that was cut in the middle of a text; other lines stay as they are.
func closed(raw []byte) []byte {
	const escape = len(`\u0000`)
	if !bytes.HasPrefix(raw, []byte("{")) {
		return raw
	}
	for n := len(raw); n > len(raw)-escape && n > 0; n-- {
		if whole := append(slices.Clone(raw[:n]), `"}`...); json.Valid(whole) {
			return whole
		}
	}
	return raw
}

// traces returns the fields of several lines, sorted by name.
func traces(fields map[string]any) (list []Trace) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text, _ := fields[name].(string)
		if strings.HasPrefix(name, "@") || !strings.Contains(strings.TrimSpace(text), "\n") {
			continue
		}
		t := Trace{Name: untrusted.Line(name, maxTailBytes)}
		for line := range strings.Lines(strings.Trim(text, "\n")) {
			t.Lines = append(t.Lines, untrusted.Line(strings.TrimRight(line, "\r\n"), maxLine))
		}
		list = append(list, t)
	}
	return list
}

func (l *Line) bytes() (n int) {
	n = len(l.Text)
	for _, t := range l.Traces {
		for _, line := range t.Lines {
			n += len(line)
		}
	}
	return n
}

// keyValues writes a log line's other fields, sorted.
func keyValues(fields map[string]any) string {
	var keys []string
	for k := range fields {
		if text, _ := fields[k].(string); !strings.HasPrefix(k, "@") &&
			!strings.Contains(strings.TrimSpace(text), "\n") {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, " %s=%v", k, fields[k])
	}
	return b.String()
}
