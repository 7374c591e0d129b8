package untrusted

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Writer passes on what commands print. Plugins, programs and the author of a record influence that:
// names, values, reasons. Characters that could control a terminal, change the direction of a text or
// be invisible become \uXXXX. In JSON that is the same text; elsewhere it shows.
type Writer struct {
	to   io.Writer
	pass func(rest []byte) int

	mu   sync.Mutex
	rest []byte // the beginning of an incomplete character
}

// NewWriter returns a Writer to a writer. pass, if not nil, returns how many bytes at the beginning of
// a text, which starts with a control character, are passed on unchanged.
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
	out, rest := w.escape(text)
	w.rest = bytes.Clone(rest)
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close writes the rest of an incomplete character.
func (w *Writer) Close() error {
	if len(w.rest) == 0 {
		return nil
	}
	w.rest = nil
	_, err := io.WriteString(w.to, `\ufffd`)
	return err
}

// escape returns the escaped text, and the rest that needs the following bytes.
func (w *Writer) escape(text []byte) (out, rest []byte) {
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
			if k := w.plainPrefix(text); k > 0 {
				n, out = k, append(out, text[:k]...)
			} else {
				out = appendEscape(out, r)
			}
		}
		text = text[n:]
	}
	return out, nil
}

func (w *Writer) plainPrefix(text []byte) int {
	if w.pass == nil {
		return 0
	}
	return w.pass(text)
}

// Bold passes the two sequences that make headings bold.
func Bold(text []byte) int {
	for _, known := range []string{"\x1b[1m", "\x1b[0m"} {
		if bytes.HasPrefix(text, []byte(known)) {
			return len(known)
		}
	}
	return 0
}

// Colours passes what programs do to their own lines on a terminal: colours, and the return to the
// line's beginning. It does not pass what hides text.
func Colours(text []byte) int {
	if text[0] == '\r' {
		return 1
	}
	if !bytes.HasPrefix(text, []byte("\x1b[")) {
		return 0
	}
	for i, c := range text[2:] {
		switch {
		case c == 'm' && conceals(string(text[2:i+2])):
			return 0
		case c == 'm':
			return i + 3
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// conceals reports whether one of a colour sequence's parameters, "1;31", hides the text that follows: 8 does, where it
// is no part of a colour.
func conceals(parameters string) bool {
	list := strings.Split(parameters, ";")
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case "8", "08":
			return true
		case "38", "48", "58": // 5;N or 2;R;G;B
			if i+1 < len(list) && list[i+1] == "2" {
				i += 4
			} else {
				i += 2
			}
		}
	}
	return false
}

// unseen are letters that show nothing.
var unseen = map[rune]bool{'\u115f': true, '\u1160': true, '\u3164': true, '\uffa0': true}

// Hidden reports whether a character does not show as itself: a control character other than newline
// and tab, a mark of direction, one without width.
func Hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || unseen[r]
}

// Visible returns a text with its hidden characters escaped as by Writer.
func Visible(s string) string {
	out, rest := (&Writer{}).escape([]byte(s))
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
