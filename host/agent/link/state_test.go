package link

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// If a folder is in the place of a lease's file, the error names the folder and not a temporary file, so
// that the repeated error is logged once.
func TestFolderInPlaceOfLease(t *testing.T) {
	s, err := openState(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.dir, leasesDir, "a-1.json")
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := path + " is a folder: move it away"
	if err := s.setLease("a-1", &expected{}); err == nil || err.Error() != want {
		t.Error(err)
	}
}

// The files of an earlier host may be damaged.
func TestDamagedState(t *testing.T) {
	dir := t.TempDir()
	w := openHub(t, dir)
	w.expect("th-1", 1)
	_ = w.Close()
	for _, name := range []string{"host.json", "leases/th-1.json", "leases/x y"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w = openHub(t, dir)
	if _, of := w.Bundles("th-1"); of != 0 {
		t.Error(of)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "leases/x y")); err != nil || string(text) != "{" {
		t.Errorf("a file of somebody else is %q now, %v", text, err)
	}
	_ = w.Close()
	if err := os.WriteFile(filepath.Join(dir, "authority.pem"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(w.Options)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "authority.pem") {
		t.Error(err)
	}
}
