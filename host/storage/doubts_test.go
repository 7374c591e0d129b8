//go:build unix

package storage

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// directory is one with an owner and a mode.
type directory struct {
	os.FileInfo
	owner uint32
	mode  os.FileMode
}

func (d directory) Sys() any          { return &syscall.Stat_t{Uid: d.owner} }
func (d directory) Mode() os.FileMode { return d.mode | os.ModeDir }
func (directory) ModTime() time.Time  { return time.Time{} }

// 9.3: run dir world-writable, owned by another. The user is told.
func TestOthersMay(t *testing.T) {
	for _, c := range []struct {
		owner uint32
		mode  os.FileMode
		me    int
		want  string
	}{
		{1000, 0o700, 1000, ""},
		{1000, 0o755, 1000, ""},
		{1000, 0o770, 1000, ""}, // a group that works together
		{1000, 0o777, 1000, "by everybody"},
		{1000, 0o1777, 1000, "by everybody"},
		{1001, 0o700, 1000, "belongs to another user (1001; you are 1000)"},
		{0, 0o755, 1000, ""}, // the system's
		{1001, 0o700, 0, ""}, // root may go where he likes
		{1001, 0o777, 0, "by everybody"},
	} {
		if got := othersMay(directory{owner: c.owner, mode: c.mode}, c.me); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%d of %v, seen by %d: %q, want %q", c.owner, c.mode, c.me, got, c.want)
		}
	}
}

func TestDoubts(t *testing.T) {
	d, err := At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	private := d.Doubts()
	if err := os.Chmod(d.Path(), 0o777); err != nil {
		t.Fatal(err)
	}
	open := d.Doubts()
	if len(open) != len(private)+1 || !strings.HasPrefix(open[0], d.Path()) {
		t.Errorf("%q, and writable to everybody %q", private, open)
	}
}
