package naming

import (
	"encoding/json"
	"unicode"

	"github.com/tunehost/tunehost/host/config"
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

// Tellers write the choices of parameters, by their names.
type Tellers map[string]func(v any) string

// TellersOf returns those of the parameters of an experiment that have choices.
func TellersOf(e *config.Experiment) Tellers {
	all := Tellers{}
	for i := range e.Space.Params {
		if p := &e.Space.Params[i]; p.Choices != nil {
			all[p.Name] = Teller(p.Choices)
		}
	}
	return all
}

// Text writes a value of any parameter short enough for a table.
func (t Tellers) Text(name string, v any) string {
	if told := t[name]; told != nil {
		return told(v)
	}
	return Brief(v)
}

// exact writes a value as JSON, a real as one.
func exact(v any) string {
	if f, ok := v.(float64); ok {
		return config.FormatReal(f)
	}
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
