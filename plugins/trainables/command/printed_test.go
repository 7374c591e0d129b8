package command

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
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

// With expressions, objectives may be on lines of their own, and other metrics belong to the next result.
func TestMatchesResultsOfSeveralLines(t *testing.T) {
	patterns := []pattern{{"acc", regexp.MustCompile(`acc: (\S+)`)}, {"loss", regexp.MustCompile(`loss: (\S+)`)},
		{"size", regexp.MustCompile(`size: (\S+)`)}}
	for _, c := range []struct{ objectives, lines, want, late string }{
		{"loss", "loss: 1 acc: 2; loss: 3", "acc=2 loss=1 | loss=3", ""},
		{"loss", "acc: 2; loss: 1; acc: 4; loss: 3", "acc=2 loss=1 | acc=4 loss=3", ""},
		{"loss", "loss: 1; acc: 2", "loss=1", "acc"},
		{"loss", "loss: 1; loss: 2", "loss=1 | loss=2", ""},
		{"loss size", "loss: 1; size: 2; size: 3; loss: 4", "loss=1 size=2 | size=3 loss=4", ""},
		{"loss size", "loss: 1; loss: 2; size: 3", "loss=1 | loss=2 size=3", ""},
		{"loss size", "loss: 1; size: 2 loss: 3", "loss=3 size=2", ""},
		{"loss size", "size: 2; loss: 1; acc: 5; loss: 2", "size=2 loss=1 | acc=5 loss=2", ""},
		{"", "loss: 1; acc: 2", "loss=1 | acc=2", ""},
	} {
		r := reader{objectives: strings.Fields(c.objectives), patterns: patterns}
		var results []string
		add := func(p *printed) {
			if p != nil {
				results = append(results, told(p.Metrics))
			}
		}
		for line := range strings.SplitSeq(c.lines, "; ") {
			p, err := r.read([]byte(line))
			if err != nil {
				t.Error(err)
			}
			add(p)
		}
		p, late := r.rest()
		add(p)
		if got := strings.Join(results, " | "); got != c.want || names(late) != c.late {
			t.Errorf("%s: %q, and %q is late; want %q, and %q", c.lines, got, names(late), c.want, c.late)
		}
	}
}

func told(list []sdk.Metric) string {
	var out []string
	for _, m := range list {
		out = append(out, fmt.Sprintf("%s=%v", m.Name, m.Value))
	}
	return strings.Join(out, " ")
}
