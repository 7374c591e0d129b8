package storage

import (
	"math"
	"testing"

	"golang.org/x/sys/unix"
)

// Network file systems are recognised by number, also where the system gives it as a negative one.
func TestRemoteFileSystems(t *testing.T) {
	for magic, want := range map[int64]string{
		unix.NFS_SUPER_MAGIC: "NFS", unix.CIFS_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC - math.MaxUint32 - 1: "SMB",
		unix.EXT4_SUPER_MAGIC: "", unix.TMPFS_MAGIC: "", unix.XFS_SUPER_MAGIC: "", 0: "",
	} {
		if got := remoteOf(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
	if got := remote("/nowhere"); got != "" {
		t.Errorf("what is not there is on %s", got)
	}
}
