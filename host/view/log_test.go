package view

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A log is read in whole lines, from its last ones on, and from its beginning if it was replaced.
func TestTextInWholeLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.log")
	if x, err := textOf(path, 0, false); err != nil || len(x.Lines) != 0 {
		t.Fatalf("%q, %v of no file", x.Lines, err)
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one\ntwo\nthr")
	for _, c := range []struct {
		from int64
		want string
		next int64
	}{{0, "one\ntwo\n", 8}, {4, "two\n", 8}, {8, "", 8}, {-5, "", 8}, {-8, "two\n", 8}, {-7, "two\n", 8}, {-100,
		"one\ntwo\n", 8}, {100, "one\ntwo\n", 8}} {
		x, err := textOf(path, c.from, false)
		if err != nil || string(x.Lines) != c.want || x.Next != c.next {
			t.Errorf("from %d: %q, next %d, %v; want %q, %d", c.from, x.Lines, x.Next, err, c.want, c.next)
		}
	}
	write(strings.Repeat("x", mostText+10) + "\nend\n")
	long := 0
	for next := int64(0); ; {
		x, err := textOf(path, next, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Lines) == 0 {
			break
		}
		long, next = long+len(x.Lines), x.Next
	}
	if long != mostText+15 {
		t.Errorf("%d bytes of a long line", long)
	}
}

// The end of a last line that is longer than what is wanted is there all the same, in whole characters.
func TestTailWithinALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stdout.log")
	for _, c := range []struct {
		text string
		tail int64
		last bool
		want string
	}{
		{"one\ntwo three\n", 4, false, "ree\n"}, {"one\ntwo three\n", 9, false, "wo three\n"},
		{"one\ntwo three\n", 10, false, "two three\n"}, {"two three", 5, true, "three"},
		{"one\ntwo three", 5, true, "three"}, {"one\nzwölf\n", 4, false, "lf\n"}, {"ö€\n", 2, false, "\n"},
		{"one\n", 1, false, "\n"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := textOf(path, -c.tail, c.last)
		if err != nil || string(x.Lines) != c.want || x.Next != int64(len(c.text)) {
			t.Errorf("the last %d bytes of %q: %q, next %d, %v; want %q", c.tail, c.text, x.Lines, x.Next, err, c.want)
		}
	}
}
