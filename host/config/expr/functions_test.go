package expr

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/REFERENCE.md lists each function of expressions, and none that does not exist.
func TestFunctionsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/REFERENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile(`^[A-Za-z]\w*$`)
	named := slices.DeleteFunc(slices.Clone(functionNames(false)), func(name string) bool {
		return !word.MatchString(name)
	})
	random := slices.DeleteFunc(slices.Clone(functionNames(true)), func(name string) bool {
		return !word.MatchString(name) || slices.Contains(named, name)
	})
	for begin, want := range map[string][]string{"Functions of all expressions: ": named,
		"Only in `sample`, random: ": random} {
		_, rest, _ := strings.Cut(string(page), "\n"+begin)
		list, _, _ := strings.Cut(rest, ".\n")
		list = strings.ReplaceAll(list, "`t.", "`")
		var found []string
		for _, m := range regexp.MustCompile("`(\\w+)\\(").FindAllStringSubmatch(list, -1) {
			found = append(found, m[1])
		}
		slices.Sort(want)
		slices.Sort(found)
		if !slices.Equal(found, want) {
			t.Errorf("after %q the page lists\n %q, want\n %q", begin, found, want)
		}
	}
	for _, src := range []string{"[1, 2].all(x, x > 0)", "[1, 2].exists(x, x > 1)"} {
		if _, err := Compile(src, testScope(), Bool); err != nil {
			t.Error(src, err)
		}
	}
}
