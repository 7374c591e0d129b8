package serve

import "testing"

// TestComponent: a report has its answers under the paths that encodeURIComponent of a browser makes.
func TestComponent(t *testing.T) {
	if got, want := component("a(b) c!'*~ü/%+&"), "a(b)%20c!'*~%C3%BC%2F%25%2B%26"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
