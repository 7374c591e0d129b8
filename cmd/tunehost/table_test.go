package main

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// Columns are aligned and fit, whatever is in them: flags, combining marks, joined emoji, and titles that are escaped.
func TestTableOfWideText(t *testing.T) {
	texts := []string{"🇯🇵🇫🇷", "cafe\u0301 bru\u0302le\u0301e", "日本語の値", "👍🏽❤️", "👩\u200d🔬", "plain"}
	for _, width := range []int{0, 40, 24} {
		x := &table{}
		x.column("学習率", true)
		x.column("👩\u200d🔬", false)
		x.column("|", false)
		for _, text := range texts {
			x.rows = append(x.rows, []string{"0.5", text, "|"})
		}
		var out strings.Builder
		if err := x.write(&out, width, func(s string) string { return s }); err != nil {
			t.Fatal(err)
		}
		column := -1
		for line := range strings.Lines(out.String()) {
			before, _, _ := strings.Cut(line, "|")
			at := ansi.StringWidth(before)
			if column >= 0 && at != column {
				t.Fatalf("%d wide: the last column is at %d and %d:\n%s", width, column, at, out.String())
			}
			column = at
			if w := ansi.StringWidth(strings.TrimRight(line, "\n")); width > 0 && w > width {
				t.Errorf("%d wide: %q has %d", width, line, w)
			}
		}
	}
}

// A title that is escaped has the room that it then needs.
func TestTableOfEscapedTitle(t *testing.T) {
	x := &table{}
	x.column("👩\u200d🔬", false)
	x.rows = [][]string{{"a"}}
	var out strings.Builder
	if err := x.write(&out, 40, func(s string) string { return s }); err != nil {
		t.Fatal(err)
	}
	if out.String() != "👩\\u200d🔬\na\n" {
		t.Errorf("%q", out.String())
	}
}

// An error can be as long as a program wants; the table has its ends.
func TestWhyIsShort(t *testing.T) {
	long := view.Trial{}
	long.State, long.Reason = core.Errored, "it said "+strings.Repeat("q", 100_000)+" at last"
	got := why(&long)
	if len(got) > 600 || !strings.HasPrefix(got, "it said qq") || !strings.HasSuffix(got, "qq at last") {
		t.Errorf("%d bytes: %.100s", len(got), got)
	}
}
