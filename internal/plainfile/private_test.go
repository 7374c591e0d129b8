package plainfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A private folder is made, and opened again; a link, a file and a folder that others can read are refused.
func TestPrivate(t *testing.T) {
	in := t.TempDir()
	for range 2 {
		root, err := Private(filepath.Join(in, "own"))
		if err != nil {
			t.Fatal(err)
		}
		_ = root.Close()
	}
	other := t.TempDir()
	for name, put := range map[string]func(path string) error{
		"link": func(path string) error { return os.Symlink(other, path) },
		"file": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"open": func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		path := filepath.Join(in, name)
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		_, err := Private(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+" must be a folder that only its owner can read: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
