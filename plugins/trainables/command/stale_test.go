package command

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a killed process has left is removed, and nothing that another one uses,
// however new or old that is.
func TestRemoveStale(t *testing.T) {
	parent := t.TempDir()
	mine, claim, err := claimedDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Close()
	left, leftClaim, err := claimedDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	leftClaim.Close()
	fresh := filepath.Join(parent, dirPrefix+"fresh")
	if err := os.Mkdir(fresh, 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * unclaimed)
	for _, dir := range []string{mine, left} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	removeStale(parent)
	for dir, want := range map[string]bool{mine: true, left: false, fresh: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", dir, err == nil, want)
		}
	}
}
