package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// In a directory that was removed, the error says what to do.
func TestRemovedWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "e.yaml"}, {"validate", "e.yaml"}} {
		var out, errs bytes.Buffer
		if status := run(args, nil, strings.NewReader(""), &out, &errs); status == 0 ||
			!strings.Contains(errs.String(), "change to another one (cd)") {
			t.Errorf("%s: %d, %s", args, status, errs.String())
		}
	}
}
