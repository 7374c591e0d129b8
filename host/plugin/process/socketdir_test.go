package process

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSweep(t *testing.T) {
	base := t.TempDir()
	past := time.Now().Add(-time.Hour)
	for _, name := range []string{"th-left", "th-held", "th-young", "other"} {
		dir := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Join(dir, "plugin-dir"), 0o700); err != nil {
			t.Fatal(err)
		}
		if name == "th-young" {
			continue
		}
		if err := os.Chtimes(dir, past, past); err != nil {
			t.Fatal(err)
		}
	}
	held, err := hold(filepath.Join(base, "th-held"))
	if err != nil {
		t.Fatal(err)
	}
	sweep(base)
	_ = held.Close()
	left, _ := filepath.Glob(filepath.Join(base, "*"))
	want := []string{"other", "th-held", "th-young"}
	if len(left) != len(want) {
		t.Fatal(left)
	}
	for i, dir := range left {
		if filepath.Base(dir) != want[i] {
			t.Fatal(left)
		}
	}
}

// The longest path of a socket fits into an address.
func TestRoomForSockets(t *testing.T) {
	names := "/th-4294967295/plugin-dir4294967295/plugin4294967295"
	if n := maxSocketDir + len(names); n > 107 {
		t.Errorf("a socket's path may have %d bytes", n)
	}
}
