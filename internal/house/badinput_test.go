package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadInput checks that each row of docs/BADINPUT.md names tests, which TestFunctions looks for,
// or says that SECURITY.md has the reason.
func TestBadInput(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "BADINPUT.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what |") {
			continue
		}
		rows++
		switch tests := function.FindAllStringSubmatch(line, -1); {
		case len(cells) != 3:
			t.Errorf("%d cells, not 3: %s", len(cells), line)
		case strings.Contains(cells[1], "SECURITY.md") == (len(tests) > 0):
			t.Errorf("it names no test, and SECURITY.md as little, or both: %s", line)
		}
	}
	if rows < 60 {
		t.Errorf("only %d rows were found", rows)
	}
}
