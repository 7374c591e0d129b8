package web_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cel.dev/cel-go/cel"

	"github.com/tunehost/tunehost/host/config"
)

// The dashboard writes a name that is one of these words as a text in brackets: they are what every trial has, and the
// words of the language of expressions.
func TestWordsOfExpressions(t *testing.T) {
	text, err := os.ReadFile("src/pages/parallel.tsx")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "const meant = new Set([")
	list, _, _ := strings.Cut(rest, "]")
	var words []string
	for _, w := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(list, -1) {
		words = append(words, w[1])
	}
	own := append(slices.Collect(maps.Keys(config.TrialVars)), "params", "metrics")
	for _, w := range own {
		if !slices.Contains(words, w) {
			t.Errorf("%s means what every trial has, and is not among them", w)
		}
	}
	for _, w := range words {
		if !slices.Contains(own, w) && isName(t, w) {
			t.Errorf("%s means nothing in an expression", w)
		}
	}
}

// isName reports whether a variable of expressions may have a name.
func isName(t *testing.T, name string) bool {
	t.Helper()
	env, err := cel.NewEnv(cel.Variable(name, cel.IntType))
	if err != nil {
		t.Fatal(err)
	}
	found, issues := env.Compile(name)
	return issues.Err() == nil && found.OutputType() == cel.IntType
}
