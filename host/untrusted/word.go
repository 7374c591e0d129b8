package untrusted

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word quotes a text, such as a path, as one word for a shell, on one line. The line is meant to be pasted: what cannot
// be printed is in the form $'…\n…', which bash, zsh, ksh and the shell of POSIX 2024 read.
func Word(s string) string {
	switch {
	case s != "" && !expands(s) && !strings.ContainsFunc(s, unsafe):
		return s
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unprintable):
		return "$'" + escapedForShell(s) + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// expands reports whether a shell puts something else in place of a word of plain characters: of ~ the home directory,
// also behind the = or a : of what looks like an assignment (bash), and of a leading = with a command its path (zsh).
func expands(s string) bool {
	return strings.HasPrefix(s, "=") || strings.HasPrefix(s, "~") || strings.Contains(s, "=~") ||
		strings.Contains(s, ":~")
}

// unsafe reports whether a shell, or a reader of the line, may take a character for something else.
func unsafe(r rune) bool {
	plain := strings.ContainsRune("/._-+=@%:,~", r) || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' ||
		'0' <= r && r <= '9'
	return !plain && (r < utf8.RuneSelf || r == utf8.RuneError || unprintable(r))
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) || Hidden(r) }

func escapedForShell(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == utf8.RuneError && n == 1 || unprintable(r):
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, `\%03o`, c) // three digits: what follows may be a digit, too
			}
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}
