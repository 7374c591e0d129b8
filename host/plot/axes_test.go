package plot

import (
	"encoding/json"
	"slices"
	"testing"
)

// Each choice has a text of its own, also null, the empty text, and a text that looks as a number.
func TestChoiceNames(t *testing.T) {
	var list []json.RawMessage
	for _, text := range []string{`null`, `"adam"`, `""`, `1`, `"1"`, `"null"`, `[1, 2]`, `true`, `" "`, `"\n"`} {
		list = append(list, json.RawMessage(text))
	}
	want := []string{"null", "adam", `""`, "1", `"1"`, `"null"`, "[1,2]", "true", `" "`, `"\n"`}
	if got := choiceNames(list); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
