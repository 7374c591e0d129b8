package diskspace

import (
	"bytes"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
)

// B-087: the user is told what the disk lacks: space, inodes or quota.
func TestWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,nr_inodes=1"); err != nil {
		t.Skipf("no file system can be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	for _, c := range []struct {
		dir   string
		cause error
		want  string
	}{
		{dir, syscall.ENOSPC, "warning: no file can be made on the disk (no inode is free): nothing is started, " +
			"recorded or saved until there is space; remove some files and the experiment continues by itself\n"},
		{t.TempDir(), syscall.ENOSPC, "warning: the disk is full: "},
		{t.TempDir(), syscall.EDQUOT, "warning: your quota of the disk is used up: "},
	} {
		var said bytes.Buffer
		d := New(hostlog.Open(io.Discard, hostlog.NewScreen(&said, "")), clock.System{})
		d.Dir = c.dir
		tries := 0
		err := d.WhenRoom(nil, func() error {
			if tries++; tries == 1 {
				return c.cause
			}
			return nil
		})
		if err != nil || !strings.HasPrefix(said.String(), c.want) {
			t.Errorf("%v: %v, %q", c.cause, err, said.String())
		}
	}
}
