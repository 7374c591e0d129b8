package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestNotText(t *testing.T) {
	for text, want := range map[string]int{
		`{"a":"ä\u00e4\ud83d\ude00\\ud800\"\ufffd�"}`: -1,
		"{\"a\":\"\xff\"}":        6,
		"{\"a\xc3\":1}":           3,
		"{\"a\":\"\xed\xa0\x80\"": 6,
		`{"a":"\ud800"}`:          6,
		`{"a":"x\uDC00"}`:         7,
		`["\ud800\u0041"]`:        2,
		`["\ude00\ud83d"]`:        2,
		`["\ud83d\ud83d\ude00"]`:  2,
		`["\\\ud83d"]`:            4,
		`["\ud83`:                 -1,
		`["\`:                     -1,
		"[\"\\\xff":               3,
		``:                        -1,
	} {
		what, at := NotText([]byte(text))
		if (what != "") != (want >= 0) || want >= 0 && at != want {
			t.Errorf("%q: %q at %d, want %d", text, what, at, want)
		}
	}
}

// What is no text is what a reader of JSON replaces.
func TestNotTextIsWhatReadersReplace(t *testing.T) {
	parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "ä", "\xff", "\xc3", `\\`, `\"`, `\n`, `\u0041`, `\ud83d`,
		`\ude00`, "ud83d", "😀"}))
	rapid.Check(t, func(t *rapid.T) {
		text := `"` + strings.Join(parts.Draw(t, "parts"), "") + `"`
		var read string
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			t.Fatal(err)
		}
		what, _ := NotText([]byte(text))
		if replaced := strings.ContainsRune(read, utf8.RuneError); (what != "") != replaced {
			t.Fatalf("%q is read as %q; not text: %q", text, read, what)
		}
	})
}
