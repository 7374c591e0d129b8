package naming

import (
	"encoding/json"
	"unicode"

	"github.com/tunehost/tunehost/host/config/expr"
)

// Teller returns what writes values of a parameter as [Brief] does, but different choices differently: a text has
// quotes if it is empty, has blanks that nobody sees or looks as another choice, and a number all its digits if it
// looks as another one. choices are JSON; a parameter that has none may have any value.
func Teller(choices [][]byte) func(v any) string {
	briefs, alike := map[string]string{}, map[string]int{}
	for _, raw := range choices {
		v, err := expr.FromJSON(raw)
		if key := exact(v); err == nil && briefs[key] == "" {
			text := Brief(v)
			if s, ok := v.(string); ok && Unseen(s) {
				text = key
			}
			briefs[key] = text
			alike[text]++
		}
	}
	return func(v any) string {
		key := exact(v)
		switch text, ok := briefs[key]; {
		case !ok:
			return Brief(v)
		case alike[text] > 1:
			return key
		default:
			return text
		}
	}
}

// exact writes a value as JSON.
func exact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return Brief(v)
	}
	return string(text)
}

// Unseen reports whether people see less of a text than there is: nothing, blanks at its ends, several in a row, or
// blanks that are no space.
func Unseen(text string) bool {
	blank := true
	for _, r := range text {
		before := blank
		if blank = unicode.IsSpace(r); blank && (before || r != ' ') {
			return true
		}
	}
	return blank
}
