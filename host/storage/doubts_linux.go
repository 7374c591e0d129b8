package storage

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// remotes are file systems whose locks and syncs depend on other machines.
var remotes = map[int64]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "SMB",
	unix.FUSE_SUPER_MAGIC: "a FUSE file system", unix.V9FS_MAGIC: "9P", unix.CEPH_SUPER_MAGIC: "Ceph",
	unix.AFS_SUPER_MAGIC: "AFS",
}

// made are file systems without owners and modes: all files show those of the mount, and chmod changes
// nothing.
var made = map[int64]bool{
	unix.MSDOS_SUPER_MAGIC: true, unix.EXFAT_SUPER_MAGIC: true, ntfs3: true, unix.V9FS_MAGIC: true,
	unix.SMB_SUPER_MAGIC: true, unix.SMB2_SUPER_MAGIC: true, unix.CIFS_SUPER_MAGIC: true,
}

const ntfs3 = 0x7366746e

// lacksModes reports whether a path, or the nearest folder above it that exists, is on one of those.
func lacksModes(path string) bool {
	var s unix.Statfs_t
	for unix.Statfs(path, &s) != nil {
		if path == filepath.Dir(path) {
			return false
		}
		path = filepath.Dir(path)
	}
	return made[int64(uint32(s.Type))]
}

// remote names the file system of a path if it is one of remotes; else it returns "".
func remote(path string) string {
	var s unix.Statfs_t
	if unix.Statfs(path, &s) != nil {
		return ""
	}
	return remoteOf(int64(s.Type))
}

// remoteOf accepts the number as the system gives it, which is signed on some machines.
func remoteOf(magic int64) string { return remotes[int64(uint32(magic))] }
