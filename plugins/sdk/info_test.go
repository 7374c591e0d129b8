package sdk

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// The pattern is for schemas, the function for programs; they accept the same names.
func TestIsName(t *testing.T) {
	pattern := regexp.MustCompile(NamePattern)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-b0-1A-]{0,6}|\PC{0,3}`).Draw(t, "name")
		if got, want := IsName(name), pattern.MatchString(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	})
	if !IsName("mf-pbt2") || IsName("") || IsName("a--b") || IsName("a_b") || IsName("a\n") {
		t.Error("names")
	}
}
