package crash

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/storage"
)

// A user's own file beside an experiment's reports of failed hosts is none of them.
func TestKeptCrashes(t *testing.T) {
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(d.Path(), name) }
	ours := in("crash-20260102-030405.txt")
	err = errors.Join(os.WriteFile(ours, []byte(crashHead+"x"), 0o600),
		os.WriteFile(in("crash-mine.txt"), []byte(crashHead), 0o600),
		os.WriteFile(in("crash-20260102-030406.txt"), []byte("my notes"),
			0o600), os.Mkdir(in("crash-20260102-030407.txt"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	if got := Reports(d); len(got) != 1 || got[0] != ours {
		t.Errorf("%q", got)
	}
}

// The report of a host that has failed is named before another host finds it; the empty one of a host that is well, or
// was killed, is none.
func TestUnreadCrash(t *testing.T) {
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{crashHead + crashMark: 0, crashHead + crashMark + "panic: x": 1} {
		if err := os.WriteFile(d.Crash(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Reports(d); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
