package untrusted

import (
	"os/exec"
	"strings"
	"testing"
)

// A command that is printed to be pasted gives the shell the same text again, and is one line.
func TestWord(t *testing.T) {
	bash, err := exec.LookPath("bash")
	for _, s := range []string{"results/e", "a b", "", "~me", "it's", "a\nb", "weird \"q\" $x\nnl", "tab\there", "\x1b[31m7",
		"\xff1", "`ls`", "ü/日本", "a\u202eb", "-x", `back\slash`, "\\\n'"} {
		word := Word(s)
		if strings.ContainsFunc(word, unprintable) {
			t.Errorf("%q is quoted as %q, which cannot be printed", s, word)
		}
		if err != nil {
			continue // no shell that reads all of them
		}
		got, err := exec.CommandContext(t.Context(), bash, "-c", "printf %s "+word).Output()
		if s != "-x" && (err != nil || string(got) != s) {
			t.Errorf("%q is quoted as %s, which is %q, %v", s, word, got, err)
		}
	}
	for s, want := range map[string]string{"results/e": "results/e", "a b": "'a b'", "a\nb": `$'a\nb'`, "ü": "ü"} {
		if got := Word(s); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
