package untrusted

import (
	"strings"
	"testing"
)

// A command that is printed to be pasted is one line that can be printed, and gives a shell the same text again.
func TestWord(t *testing.T) {
	for _, s := range []string{"results/e", "a b", "", "~me", "it's", "a\nb", "weird \"q\" $x\nnl", "tab\there",
		"\x1b[31m7", "\xff1", "`ls`", "ü/日本", "a\u202eb", "-x", `back\slash`, "\\\n'", "=ls", "x=~", "x=a:~"} {
		word := Word(s)
		if strings.ContainsFunc(word, unprintable) {
			t.Errorf("%q is quoted as %q, which cannot be printed", s, word)
		}
	}
	for s, want := range map[string]string{"results/e": "results/e", "a b": "'a b'", "a\nb": `$'a\nb'`, "ü": "ü",
		"it's": `'it'\''s'`, "~me": "'~me'", "a~": "a~", "=ls": "'=ls'",
		"a=b": "a=b", "x=~me": "'x=~me'", "x=/a:~me": "'x=/a:~me'",
		"": "''", "\x1b7": `$'\0337'`, "\xff1": `$'\3771'`, "\\\n'": `$'\\\n\''`} {
		if got := Word(s); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
