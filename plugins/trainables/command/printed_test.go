package command

import (
	"regexp"
	"strings"
	"testing"
)

// Of a long line, expressions see a bounded part: its beginning and its end, but no number that is cut.
func TestMatchesTheEndsOfALongLine(t *testing.T) {
	bar := func(bytes int) string { return strings.Repeat("=", bytes) }
	expr := map[string]*regexp.Regexp{
		"group": regexp.MustCompile(`loss: ([0-9.]+)`), "start": regexp.MustCompile(`^loss: ([0-9.]+)`),
		"whole": regexp.MustCompile(`[0-9.]+`), "none": regexp.MustCompile(`loss: (never)?`),
	}
	const half = maxMatched
	for _, c := range []struct{ expr, line, want string }{
		{"group", "loss: 1.5", "1.5"},
		{"whole", "loss: 1.5", "1.5"},
		{"none", "loss: 1.5", ""},
		{"group", bar(half) + "loss: 1.5" + bar(half-9), "1.5"}, // not longer than both ends
		{"group", "loss: 1.5" + bar(1<<20), "1.5"},
		{"group", bar(1<<20) + "loss: 1.5", "1.5"},
		{"group", "loss: 1.5" + bar(1<<20) + "loss: 2.5", "1.5"},
		{"group", bar(half) + "loss: 1.5" + bar(half), "no match"},
		{"group", bar(half-8) + "loss: 1.5" + bar(1<<20), "no match"}, // 1. is a part of it
		{"group", bar(half-8) + "loss: 1.5" + bar(1<<20) + "loss: 2.5", "2.5"},
		{"group", bar(half-9) + "loss: 1.5" + bar(1<<20), "no match"}, // 1.5 may be
		{"group", bar(half-10) + "loss: 1.5" + bar(1<<20), "1.5"},
		{"whole", bar(1<<20) + "1.5" + bar(half-2), "no match"}, // .5 is a part of it
		{"whole", bar(1<<20) + "1.5" + bar(half-4), "1.5"},
		{"start", bar(1<<20) + "loss: 1.5" + bar(half-9), "no match"}, // the end is no start
	} {
		p := &pattern{re: expr[c.expr]}
		got, ok := p.find([]byte(c.line))
		if ok != (c.want != "no match") || ok && got != c.want {
			t.Errorf("%s in a line of %d bytes: %q, %v; want %s", c.expr, len(c.line), got, ok, c.want)
		}
	}
}
