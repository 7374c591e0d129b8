package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// suggestions matches parameters in messages.
var suggestions = regexp.MustCompile(`\{(?:uniform|loguniform|int|normal|choice|ordinal|grid|sample|value): ` +
	`(?:\[[^][]*\]|[^][{}]*)[^][{}]*\}`)

// values replaces the placeholders in messages by values.
var values = strings.NewReplacer("[a, b]", "[1, 2]", "[low, high]", "[1, 2]", "[min, max]", "[1, 2]",
	"[mean, sd]", "[0, 1]",
	"[...]", "[1, 2]", "EXPR", "1 + 1", "TEXT", "text")

// Every parameter that a message suggests is valid (B-106).
func TestSuggestionsAreValid(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	tried := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			_, advice, ok := strings.Cut(line, ": ")
			if !ok || !strings.HasPrefix(line, "x.yaml:") {
				continue
			}
			tried += trySuggestions(t, advice)
		}
	}
	if tried < 30 {
		t.Errorf("only %d suggestions were found", tried)
	}
}

// trySuggestions parses the suggestions of a message: the texts after "write", "expected" and similar
// words.
func trySuggestions(t *testing.T, message string) (tried int) {
	t.Helper()
	at := regexp.MustCompile(`write |expected |such as |Write `).FindStringIndex(message)
	if at == nil {
		return 0
	}
	for _, s := range suggestions.FindAllString(message[at[0]:], -1) {
		tried++
		file := "version: 1\nobjective: {metric: m, mode: max}\n" +
			"space: {x: {choice: [a, b]}, y: " + values.Replace(s) + "}\n"
		if _, err := Parse("x.yaml", []byte(file), WithoutTrainable()); err != nil {
			t.Errorf("%s in %q: %v", s, strings.TrimSpace(message), err)
		}
	}
	return tried
}
