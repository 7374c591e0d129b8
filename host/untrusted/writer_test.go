package untrusted

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// Misleading characters are made visible, and other scripts stay as they are.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain é 日本 \t\n":   "plain é 日本 \t\n",
		"\x1b[31mred\x07\r": `\u001b[31mred\u0007\u000d`,
		"a\u202eb\u2066c":   `a\u202eb\u2066c`,
		"a\u200bb\ufeffc":   `a\u200bb\ufeffc`,
		"\u0085\u009b2J":    `\u0085\u009b2J`,
		"\U000e0041":        `\udb40\udc41`,
		"\u2028\u3164":      `\u2028\u3164`,
		"a\xffb\xe2\x80":    `a\ufffdb\ufffd\ufffd`,
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Text in pieces gives the same as at once; JSON has the same text as before.
func TestWriter(t *testing.T) {
	text := "é\u202e日\x1b[1mbold\x1b[0m \x1b[2J\U000e0041\x7f"
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 2, 3, 1000} {
		var out bytes.Buffer
		w := NewWriter(&out, nil)
		for rest := b; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if n, err := w.Write(rest[:min(size, len(rest))]); err != nil || n != min(size, len(rest)) {
				t.Fatal(n, err)
			}
		}
		var back string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != text {
			t.Errorf("%d at a time: %s is %q, %v", size, out.Bytes(), back, err)
		}
		for _, r := range out.String() {
			if Hidden(r) {
				t.Errorf("%d at a time: %q", size, out.String())
			}
		}
	}
}

func TestWriterPasses(t *testing.T) {
	for _, c := range []struct {
		pass       func([]byte) int
		text, want string
	}{
		{Bold, "\x1b[1mx\x1b[0m\x1b[31m\r", "\x1b[1mx\x1b[0m" + `\u001b[31m\u000d`},
		{Colours, "\x1b[1;31mx\x1b[m\r\x1b[2J\x1b]0;t\x07\u202e",
			"\x1b[1;31mx\x1b[m\r" + `\u001b[2J\u001b]0;t\u0007\u202e`},
		{Colours, "\x1b[8mx\x1b[1;8;31mx\x1b[38;5;8mx\x1b[48;2;8;8;8mx\x1b[38;5;1;8mx",
			`\u001b[8mx\u001b[1;8;31mx` + "\x1b[38;5;8mx\x1b[48;2;8;8;8mx" + `\u001b[38;5;1;8mx`},
		{nil, "\x1b[1m\xe2\x80", `\u001b[1m\ufffd`},
	} {
		var out bytes.Buffer
		w := NewWriter(&out, c.pass)
		if _, err := w.Write([]byte(c.text)); err != nil || w.Close() != nil || out.String() != c.want {
			t.Errorf("%q: %q, want %q: %v", c.text, out.String(), c.want, err)
		}
	}
}

func FuzzWriter(f *testing.F) {
	f.Add("a\u202e\x1b[1m\xff", 3)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = max(0, min(cut, len(text)))
		var out bytes.Buffer
		w := NewWriter(&out, nil)
		_, _ = w.Write([]byte(text[:cut]))
		_, _ = w.Write([]byte(text[cut:]))
		_ = w.Close()
		if !utf8.Valid(out.Bytes()) {
			t.Errorf("%q is not UTF-8", out.Bytes())
		}
		for _, r := range out.String() {
			if Hidden(r) {
				t.Errorf("%q", out.String())
			}
		}
	})
}
