package untrusted

import (
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestEscapes(t *testing.T) {
	for in, want := range map[string]string{
		"plain, ünïcödé\ttoo": "plain, ünïcödé\ttoo",
		"\x1b[31mred\x07":     `\x1b[31mred\a`,
		"two\nlines\r":        `two\nlines\r`,
		"\xff\x00":            `\xff\x00`,
		"\u202eabc\u2028":     `\u202eabc\u2028`,
	} {
		if got := Line(in, 100); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	if got := Text("two\nlines\r\x1b", 100); got != "two\nlines\\r\\x1b" {
		t.Errorf("%q", got)
	}
	if got := Line(strings.Repeat("x", 50), 10); got != "xxxxxxxxxx [cut]" {
		t.Errorf("%q", got)
	}
}

// Ends keeps both ends of a long text, each of them escaped and valid.
func TestEnds(t *testing.T) {
	for in, want := range map[string]string{
		"short\x1b": `short\x1b`,
		"begins" + strings.Repeat(" -", 50) + "why": "begins - - [cut] - - - -why",
		"ünïcödé " + strings.Repeat("ü", 50) + "x":  "ünïcöd [cut] üüüüx",
	} {
		if got := Ends(in, 20); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1b\xff\n", 3)
	f.Fuzz(func(t *testing.T, s string, most int) {
		most = min(max(most, 0), 1<<16)
		got := Line(s, most)
		for _, r := range got {
			if r != '\t' && !unicode.IsPrint(r) {
				t.Fatalf("%q has %q", got, r)
			}
		}
		if len(got) > most+len(" [cut]") {
			t.Fatalf("%d bytes, at most %d", len(got), most)
		}
		if Line(got, len(got)) != got {
			t.Fatalf("%q is escaped twice", got)
		}
	})
}

func TestRate(t *testing.T) {
	var r Rate
	now := time.Unix(100, 0)
	taken := 0
	for range 3000 {
		if r.Take(1<<10, now) {
			taken++
		}
	}
	if taken != 1024 {
		t.Errorf("%d KiB were let through at once, want 1024", taken)
	}
	dropped := func(want string, wantFirst bool) {
		t.Helper()
		if text, first := r.Dropped(); text != want || first != wantFirst {
			t.Errorf("%q, the first time: %v; want %q, %v", text, first, want, wantFirst)
		}
	}
	dropped("1976 lines dropped", true)
	dropped("", false)
	if !r.Take(1<<19, now.Add(time.Second/2)) || r.Take(1<<19, now.Add(time.Second/2)) {
		t.Error("half a second later half of it may come")
	}
	dropped("1 line dropped", false)
}
