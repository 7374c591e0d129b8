package shelltext

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
)

func TestMistake(t *testing.T) {
	toolchain.Programs(t, "bash", "sh")
	sh := []string{"sh", "-n"}
	for _, c := range []struct {
		text   string
		shells [][]string
		want   string // "": none
	}{
		{"module load cuda\n", [][]string{Bash}, ""},
		{"", [][]string{Bash}, ""},
		{"shopt -s extglob\nls !(a)", [][]string{Bash}, ""},
		{"cat <<X\nhello\nX", [][]string{Bash}, ""},
		{"echo hi's", [][]string{Bash}, "unexpected EOF while looking for matching"},
		{"cat <<X\nhello", [][]string{Bash}, "here-document at line 1 delimited by end-of-file"},
		{"}", [][]string{Bash}, "syntax error near unexpected token"},
		{"echo hi's", [][]string{sh, Bash}, "nterminated quoted string"},
		{"x=(a b)", [][]string{sh, Bash}, ""}, // the sh of the nodes may be bash
		{"echo hi's", [][]string{{"/no/such/shell", "-n"}, Bash}, ""},
	} {
		got := Mistake(c.text, c.shells...)
		if (got == "") != (c.want == "") || strings.Contains(got, "\n") {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
		if len(c.shells) == 1 && !strings.Contains(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
