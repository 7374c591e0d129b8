package jsontext

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// escapeBytes is the length of an escape such as \u00e4.
const escapeBytes = 6

// NotText returns what in a JSON value is no Unicode text, with its place in bytes: a byte that is not UTF-8, or half
// of a pair of escapes such as \ud800. Readers of JSON replace both, so that two texts become the same; "": nothing.
func NotText(text []byte) (what string, at int) {
	for at < len(text) {
		r, n := utf8.DecodeRune(text[at:])
		switch {
		case r == utf8.RuneError && n == 1:
			return "a byte that is not UTF-8", at
		case r == '\\':
			if n = escaped(text[at:]); n == 0 {
				return "half of a surrogate pair, " + string(text[at:at+escapeBytes]), at
			}
		}
		at += n
	}
	return "", 0
}

// escaped returns the length of the escape with which text begins; 0: it is half of a pair.
func escaped(text []byte) int {
	first, ok := unit(text)
	switch {
	case !ok && len(text) > 1 && text[1] < utf8.RuneSelf:
		return 2
	case !ok:
		return 1
	case !utf16.IsSurrogate(first):
		return escapeBytes
	}
	second, _ := unit(text[escapeBytes:])
	if utf16.DecodeRune(first, second) == utf8.RuneError {
		return 0
	}
	return 2 * escapeBytes
}

// unit reads an escape such as \u00e4 at the beginning of text.
func unit(text []byte) (r rune, ok bool) {
	if len(text) < escapeBytes || !bytes.HasPrefix(text, []byte(`\u`)) {
		return 0, false
	}
	x, err := strconv.ParseUint(string(text[2:escapeBytes]), 16, 16)
	return rune(x), err == nil
}
