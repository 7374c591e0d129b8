package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// B-155: sweep removes compiled modules only.
func TestCacheSweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	sum := strings.Repeat("0a", 32)
	files := map[string]bool{ // and whether it stays
		"wazero-v1/" + sum:                     false,
		"wazero-v1/notes.txt":                  true,
		"wazero-v1/" + sum[1:] + "b":           true,
		"wazero-thesis/chapter1.tex":           true,
		"wazero-v1/" + strings.Repeat("F", 64): true,
	}
	past := time.Now().Add(-2 * unusedAfter)
	for name, stays := range files {
		path := filepath.Join(dir, name)
		text := "mine"
		if !stays {
			text = compiledStart + "\x01"
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if openCache(dir, hclog.NewNullLogger()) == nil {
		t.Fatal("the cache cannot be used")
	}
	for name, stays := range files {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s is there: %t, want %t", name, err == nil, stays)
		}
	}
}
