package door

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/testplace"
)

// leave makes the socket of an agent that was killed some time ago.
func leave(t *testing.T, path string, ago time.Duration) {
	t.Helper()
	if err := os.Mkdir(filepath.Dir(path), dirMode); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = l.Close()
	then := time.Now().Add(-ago)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

// The sockets of killed agents of the same experiment are removed; those of others, of agents that live or are about
// to listen, and what somebody has put there, stay.
func TestRemoveLeft(t *testing.T) {
	dir := testplace.Short(t)
	at := func(name string) string { return filepath.Join(dir, name, "agent") }
	for name, ago := range map[string]time.Duration{"th-a-1-x.0": time.Hour, "th-a-2-y.1": time.Hour,
		"th-a-3-new.0": time.Second, "th-b-1-x.0": time.Hour, "th-a-4-open.0": time.Hour, "th-a-6-full.0": time.Hour,
		"other": time.Hour} {
		leave(t, at(name), ago)
	}
	d, err := Open(at("th-a-5-alive.0"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	then := time.Now().Add(-time.Hour)
	for _, err := range []error{os.Chtimes(d.path, then, then), os.Chmod(filepath.Dir(at("th-a-4-open.0")), 0o755),
		os.WriteFile(filepath.Join(dir, "th-a-6-full.0", "mine"), nil, 0o600),
		os.Mkdir(filepath.Join(dir, "th-a-7-file.0"), dirMode), os.WriteFile(at("th-a-7-file.0"), nil, 0o600),
		os.Chtimes(at("th-a-7-file.0"), then, then)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	RemoveLeft(at("other"), "th-a-9") // not named by the lease
	RemoveLeft(at("th-a-9-z.0"), "th-a-9")
	var left []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{"other", "th-a-3-new.0", "th-a-4-open.0", "th-a-5-alive.0", "th-a-6-full.0", "th-a-7-file.0",
		"th-b-1-x.0"}
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("there is %q, %v; want %q", left, err, want)
	}
}
