package storage

import "golang.org/x/sys/unix"

// remotes are file systems whose locks and syncs other machines answer for.
var remotes = map[int64]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB",
	unix.FUSE_SUPER_MAGIC: "a FUSE file system", unix.V9FS_MAGIC: "9P", unix.CEPH_SUPER_MAGIC: "Ceph", unix.AFS_SUPER_MAGIC: "AFS",
}

// remote names the file system that a path is on, where it is one of those; else it is "".
func remote(path string) string {
	var s unix.Statfs_t
	if unix.Statfs(path, &s) != nil {
		return ""
	}
	return remoteOf(int64(s.Type))
}

// remoteOf takes the number as the system gives it, which is signed on some machines.
func remoteOf(magic int64) string { return remotes[int64(uint32(magic))] }
