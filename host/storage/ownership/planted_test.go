package ownership

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckPath: a link of another user in a folder in which everybody can write is not followed, wherever it is on the
// way; others are.
func TestCheckPath(t *testing.T) {
	planted, reader := plant(t, t.TempDir())
	own := t.TempDir()
	if err := os.Mkdir(filepath.Join(own, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"mine": filepath.Join(own, "a", "..", "on"), "on": planted,
		"back": "../" + filepath.Base(own) + "/mine/x", "round": "round", "good": "a"} {
		if err := os.Symlink(target, filepath.Join(own, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, refused := range map[string]bool{
		planted:                          true,
		filepath.Join(planted, "x"):      true,
		filepath.Join(own, "mine"):       true,
		filepath.Join(own, "back", "y"):  true,
		filepath.Join(own, "good", "y"):  false,
		filepath.Join(own, "round", "y"): false,
		filepath.Dir(planted):            false,
	} {
		err := checkPath(path, reader)
		if (err != nil) != refused || refused && !strings.HasPrefix(err.Error(), planted+" is a link that the user ") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if info, err := os.Lstat(planted); err != nil || checkPlanted(planted, info, maker(t, planted)) != nil {
		t.Error("who has made it may not follow it", err)
	}
	if err := os.Chmod(filepath.Dir(planted), 0o755); err == nil && checkPath(planted, reader) != nil {
		t.Error("nobody else can make links there")
	}
}

// plant makes a link of one user in the folder of another, in which everybody can write, and returns a third user.
func plant(t *testing.T, target string) (link string, reader int) {
	t.Helper()
	me, open := os.Geteuid(), "/tmp" // root's
	if me == 0 {
		open = t.TempDir()
		if err := os.Chmod(open, 0o777|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
	}
	link = filepath.Join(open, "tunehost-planted-"+filepath.Base(filepath.Dir(t.TempDir())))
	t.Cleanup(func() { _ = os.Remove(link) })
	err := os.Symlink(target, link)
	if me == 0 {
		return link, must(t, 0, errors.Join(err, os.Lchown(link, 65534, -1)))
	}
	return link, must(t, me+1, err)
}

func maker(t *testing.T, link string) int {
	t.Helper()
	info, err := os.Lstat(link)
	owner, _, _ := Of(info)
	return must(t, owner, err)
}

func must(t *testing.T, n int, err error) int {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return n
}
