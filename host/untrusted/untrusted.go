// Package untrusted escapes and limits texts of plugins and trials' programs, so that they cannot harm
// terminals, readers of logs, or memory. Each such text passes through here once, where it enters the
// host.
package untrusted

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tunehost/tunehost/internal/lazily"
)

// Limits in bytes.
const (
	MaxText   = 64 << 10 // of an error, or of a line for the log
	MaxReason = 512      // of a decision's reason
)

// Line returns s as one line of at most max bytes, with all unprintable characters except tabs
// escaped.
func Line(s string, max int) string { return escape(s, max, false) }

// Ends is Line, but a text that is too long loses its middle: its end often says why.
func Ends(s string, max int) string {
	if len(s) <= max {
		return Line(s, max)
	}
	first, last := s[:max/2], s[len(s)-max/2:]
	return strings.TrimSpace(Line(strings.ToValidUTF8(first, ""), max/2)) + " [cut] " +
		Line(strings.ToValidUTF8(last, ""), max/2)
}

// Text is Line for a text of several lines.
func Text(s string, max int) string { return escape(s, max, true) }

func escape(s string, max int, lines bool) string {
	cut := len(s) > max
	if cut {
		s = s[:max]
	}
	strange := func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) && !(lines && r == '\n') }
	if cut || !utf8.ValidString(s) || strings.ContainsFunc(s, strange) {
		s = escaped(s, strange)
	}
	if len(s) > max { // escapes are longer
		s, cut = strings.ToValidUTF8(s[:max], ""), true
	}
	if cut {
		s += " [cut]"
	}
	return s
}

func escaped(s string, strange func(rune) bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		} else if strange(r) {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// Rate limits how many bytes a second a source may write to the log, and counts the refusals. The zero
// value lets allowed through at once.
type Rate struct {
	used    float64
	at      time.Time
	dropped int
	said    bool
}

// allowed is the rate, in bytes a second.
const allowed = 1 << 20

// Take reports whether n more bytes may be written now.
func (r *Rate) Take(n int, now time.Time) bool {
	if !r.at.IsZero() {
		r.used = max(0, r.used-now.Sub(r.at).Seconds()*allowed)
	}
	r.at = now
	if r.used+float64(n) > allowed {
		r.dropped++
		return false
	}
	r.used += float64(n)
	return true
}

// Flooding is a warning to the user, once for each source: a flood has many gaps.
const Flooding = "lines are dropped, since it prints more than 1 MiB a second"

// Dropped says how often Take refused since the last call, for the log; "" for never. first says that it is the first
// time, so that the user is told of it.
func (r *Rate) Dropped() (text string, first bool) {
	n := r.dropped
	if r.dropped = 0; n == 0 {
		return "", false
	}
	first, r.said = !r.said, true
	if n == 1 {
		return "1 line dropped", first
	}
	return fmt.Sprintf("%d lines dropped", n), first
}

var quoted = lazily.Regexp(`"(\\.|[^"\\])*"`)

// Unquoted returns s without what it quotes, such as the output of a program: messages that differ only in that are of
// one kind.
func Unquoted(s string) string { return quoted().ReplaceAllString(s, "") }
