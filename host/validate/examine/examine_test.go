package examine

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What is said of the disk is what a host does there: it works with little room, and waits
// where nothing is left, of bytes or of files.
func TestExamineRoom(t *testing.T) {
	for _, c := range []struct {
		free, files, inodes uint64
		bad                 bool
		says                string
	}{
		{1 << 20, 100, 50, false, "4.0 GiB are free"},
		{5 << 10, 100, 50, false, "only 20.0 MiB are free: a host works until they are used up, and then waits"},
		{5 << 10, 0, 0, false, "only 20.0 MiB are free"}, // a file system that does not count files
		{0, 100, 50, true, "no space is free: a host waits until there is some"},
		{1 << 20, 100, 0, true, "no file can be made (no inode is free): a host waits"},
	} {
		x := &examination{}
		x.roomOf(unix.Statfs_t{Bavail: c.free, Bsize: 4096, Files: c.files, Ffree: c.inodes})
		if len(x.findings) != 1 || x.findings[0].Bad != c.bad {
			t.Errorf("%+v: %+v", c, x.findings)
			continue
		}
		if !strings.Contains(x.findings[0].Text, c.says) {
			t.Errorf("%+v: %s", c, x.findings[0].Text)
		}
	}
}
