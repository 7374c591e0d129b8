package ownership

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckLink: a link is followed that the reader or root has made, or that leads to a directory of its maker;
// one of somebody else to another's directory is not.
func TestCheckLink(t *testing.T) {
	dir := t.TempDir()
	me, link := os.Geteuid(), filepath.Join(dir, "link")
	mine, theirs := dir, "/"
	maker := me
	if me == 0 { // root's links are always followed: another user makes this one
		mine, maker = t.TempDir(), 65534
		if err := os.Chown(mine, maker, maker); err != nil {
			t.Fatal(err)
		}
	}
	for target, refused := range map[string]bool{mine: false, theirs: true} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(link, maker, -1); err != nil {
			t.Fatal(err)
		}
		err := checkLink(link, maker+1)
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "is not followed") {
			t.Errorf("to %s: %v", target, err)
		}
		if err := checkLink(link, maker); err != nil {
			t.Errorf("the reader's own to %s: %v", target, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	if err := checkLink(dir, me+1); err != nil {
		t.Errorf("a directory: %v", err)
	}
}
