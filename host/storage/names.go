package storage

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNameBytes is the longest name of a trial's directory (B-090).
const maxNameBytes = 200

// Value is a parameter as written in a name.
type Value struct{ Name, Text string }

// TrialName returns the name of a trial's directory: its number, its id and, as far as there is room,
// the parameters that vary. label, from the user's template, replaces the parameters unless it is
// empty.
func TrialName(number uint32, id, label string, varied []Value) string {
	name := fmt.Sprintf("%05d_%s", number, id)
	if label != "" {
		return cut(name + "_" + clean(label))
	}
	for _, v := range varied {
		part := "_" + clean(v.Name) + "=" + clean(v.Text)
		if len(name)+len(part) > maxNameBytes {
			continue
		}
		name += part
	}
	return strings.TrimRight(name, ".") // some systems drop it
}

// clean keeps only ASCII letters, digits and a few signs, which every file system and shell accepts.
func clean(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)), strings.ContainsRune("=.+-_,@", r):
			out.WriteRune(r)
		default:
			out.WriteByte('-')
		}
	}
	return out.String()
}

// cut shortens a name to the limit; a name never ends with a dot or half a sign.
func cut(name string) string {
	if len(name) > maxNameBytes {
		name = name[:maxNameBytes]
	}
	return strings.TrimRight(name, ".-")
}
