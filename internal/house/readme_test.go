package house

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The first screen of the README has two commands that work on a fresh machine: the main job, and all tests.
func TestFirstScreen(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	screen, _, _ := strings.Cut(string(text), "\n## ")
	var commands []string
	for i, part := range strings.Split(screen, "```") {
		for line := range strings.Lines(part) {
			if command, ok := strings.CutPrefix(line, "    "); ok && i%2 == 0 { // no fenced block
				commands = append(commands, strings.TrimSpace(command))
			}
		}
	}
	want := []string{"go run ./cmd/tunehost run examples/quickstart/experiment.yaml", "make check"}
	if !slices.Equal(commands, want) {
		t.Errorf("%q, want %q", commands, want)
	}
}
