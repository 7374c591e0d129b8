package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A lock file with a text that no holder writes is somebody else's.
func TestForeignLock(t *testing.T) {
	dir := t.TempDir()
	if _, err := ForeignLock(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	lock, err := LockDir(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if foreign, err := ForeignLock(dir); foreign || err != nil {
		t.Errorf("a lock that is held: %v, %v", foreign, err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]bool{"": false, "pid 12\nstarted x\nhost y\n": false, "pi": false,
		"\x00\x00\x00": false, "my own notes\n": true, "p\n": true, "\n": true} {
		if err := os.WriteFile(filepath.Join(dir, lockName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if foreign, err := ForeignLock(dir); foreign != want || err != nil {
			t.Errorf("%q: %v, %v", text, foreign, err)
		}
	}
}
