package untrusted

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Writer passes on what commands print, of which plugins, programs and whoever wrote a
// record had a hand in: names, values, reasons. What could steer a terminal, turn the
// direction of a text or be there unseen becomes \uXXXX. In JSON that is the same text;
// elsewhere it is seen.
type Writer struct {
	to   io.Writer
	pass func(rest []byte) int

	mu   sync.Mutex
	rest []byte // of a character whose end has not come
}

// NewWriter passes on to a writer. pass, if not nil, says how many bytes of what begins
// with a control character are passed on all the same.
func NewWriter(to io.Writer, pass func(rest []byte) int) *Writer {
	return &Writer{to: to, pass: pass}
}

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := b
	if len(w.rest) > 0 {
		text = append(w.rest, b...)
	}
	out, rest := w.harmless(text)
	w.rest = bytes.Clone(rest)
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close passes on what is left of a character.
func (w *Writer) Close() error {
	if len(w.rest) == 0 {
		return nil
	}
	w.rest = nil
	_, err := io.WriteString(w.to, `\ufffd`)
	return err
}

// harmless is the text made so, and what is to be looked at again with what follows.
func (w *Writer) harmless(text []byte) (out, rest []byte) {
	out = make([]byte, 0, len(text))
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			return out, text
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			out = appendEscape(out, r)
		case !Hidden(r):
			out = append(out, text[:n]...)
		default:
			if k := w.passed(text); k > 0 {
				n, out = k, append(out, text[:k]...)
			} else {
				out = appendEscape(out, r)
			}
		}
		text = text[n:]
	}
	return out, nil
}

func (w *Writer) passed(text []byte) int {
	if w.pass == nil {
		return 0
	}
	return w.pass(text)
}

// Bold passes the two sequences by which headings stand out.
func Bold(text []byte) int {
	for _, known := range []string{"\x1b[1m", "\x1b[0m"} {
		if bytes.HasPrefix(text, []byte(known)) {
			return len(known)
		}
	}
	return 0
}

// Colours passes what programs do to lines of their own on a terminal: colours, and the
// return to the line's beginning.
func Colours(text []byte) int {
	if text[0] == '\r' {
		return 1
	}
	if !bytes.HasPrefix(text, []byte("\x1b[")) {
		return 0
	}
	for i, c := range text[2:] {
		switch {
		case c == 'm':
			return i + 3
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// unseen are letters that show nothing.
var unseen = map[rune]bool{'\u115f': true, '\u1160': true, '\u3164': true, '\uffa0': true}

// Hidden says whether a character is not what is seen: a control character other than the
// end of a line and the tab, a mark of direction, one without width.
func Hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || unseen[r]
}

// Visible is a text whose hidden characters are escaped as Writer does.
func Visible(s string) string {
	out, rest := (&Writer{}).harmless([]byte(s))
	for range rest {
		out = appendEscape(out, utf8.RuneError)
	}
	return string(out)
}

func appendEscape(b []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Appendf(b, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(b, `\u%04x`, r)
}
