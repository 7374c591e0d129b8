package main

import (
	"go/parser"
	"go/token"
	"os"
	"testing"
)

// Each bug can still be planted, and the result is Go. Whether tests find it,
// `make mutants` says.
func TestEachFits(t *testing.T) {
	if err := os.Chdir("../.."); err != nil {
		t.Fatal(err)
	}
	all, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Errorf("there are %d bugs, want 30 or more", len(all))
	}
	names := map[string]bool{}
	for _, m := range all {
		text, err := m.mutated()
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.file, text, 0); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if names[m.name] {
			t.Errorf("%s: two bugs have this name", m.name)
		}
		names[m.name] = true
	}
}
