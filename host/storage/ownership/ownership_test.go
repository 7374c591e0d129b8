package ownership

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// directory has an owner, a group and a mode.
type directory struct {
	os.FileInfo
	owner, group uint32
	mode         os.FileMode
}

func (d directory) Sys() any          { return &syscall.Stat_t{Uid: d.owner, Gid: d.group} }
func (d directory) Mode() os.FileMode { return d.mode | os.ModeDir }
func (directory) ModTime() time.Time  { return time.Time{} }

// A directory can be changed by its owner, by everybody, or by a group of more than one.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		owner, group uint32
		mode         os.FileMode
		me           int
		want         string
	}{
		{1000, 1000, 0o700, 1000, ""},
		{1000, 100, 0o755, 1000, ""},
		{1000, 1000, 0o775, 1000, ""}, // a group of one's own, as umask 002 makes it
		{1000, 100, 0o770, 1000, "can be written to by others"},
		{1000, 0, 0o770, 1000, "can be written to by others"},
		{1000, 1000, 0o777, 1000, "can be written to by others"},
		{1000, 1000, os.ModeSticky | 0o777, 1000, "can be written to by others"}, // a name that does not exist yet
		{1001, 1001, 0o700, 1000, "belongs to another user (1001; you are 1000)"},
		{0, 0, 0o755, 1000, ""}, // owned by the system
		{1001, 1001, 0o700, 0, "belongs to another user (1001; you are 0)"},
		{0, 0, 0o775, 0, ""},
	} {
		text := ""
		if err := check("/x", directory{owner: c.owner, group: c.group, mode: c.mode}, c.me); err != nil {
			text = err.Error()
		}
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%d:%d of %v, seen by %d: %q, want %q", c.owner, c.group, c.mode, c.me, text, c.want)
		}
	}
}

// A folder in which everybody may rename entries is refused, unless users can rename only their own.
func TestAbove(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	for mode, refused := range map[os.FileMode]bool{0o700: false, 0o777: true, 0o777 | os.ModeSticky: false} {
		if err := os.Chmod(filepath.Join(dir, "a"), mode); err != nil {
			t.Fatal(err)
		}
		for _, below := range []string{path, filepath.Join(path, "not yet")} {
			if err := CheckAbove(below); (err != nil) != refused {
				t.Errorf("%v: %v", mode, err)
			}
		}
	}
}

// The folders above may be those of another user, or of a group: project directories are trusted on purpose.
func TestGroupsAbove(t *testing.T) {
	for _, mode := range []os.FileMode{0o755, 0o775, os.ModeSetgid | 0o775, os.ModeSticky | 0o777} {
		if err := within("/p/results/a", "/p", directory{owner: 1001, group: 100, mode: mode}, 1000, ""); err != nil {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

// Who may not change the mode of a folder is not told to.
func TestAdviceForFolder(t *testing.T) {
	for _, c := range []struct {
		owner uint32
		me    int
		want  string
	}{
		{1000, 1000, "run chmod o-w /s/results"},
		{1001, 0, "run chmod o-w /s/results"},
		{1001, 1000, "copy it; only user 1001, who owns /s/results, may change that"},
	} {
		err := within("/s/results/a", "/s/results", directory{owner: c.owner, mode: 0o777}, c.me, "copy it")
		if err == nil || !strings.HasSuffix(err.Error(), "as you: "+c.want) {
			t.Errorf("owned by %d, seen by %d: %v, want %q", c.owner, c.me, err, c.want)
		}
	}
}
