//go:build unix

package nolink

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// NoMounts returns an error if a folder is a mount point or has one below: it would be moved or removed together with
// what is somebody else's.
func NoMounts(top string) error {
	at, err := OpenDir(filepath.Dir(top))
	if err != nil {
		return err
	}
	defer at.Close()
	return filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() && !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(at.Name(), path)
		if err != nil {
			return err
		}
		fd, err := openHere(int(at.Fd()), rel, pathOnly|unix.O_NOFOLLOW)
		if err != nil {
			return whyNotHere("open", path, err)
		}
		return unix.Close(fd)
	})
}

// whyNotHere is the error of openHere.
func whyNotHere(op, path string, err error) error {
	if errors.Is(err, unix.EXDEV) {
		return &Error{Path: path, Is: "a mount point",
			Do: "what is there is not tunehost's, and stays; unmount it, and mount nothing in folders of trials"}
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// openUnlessOther opens what has a name in a folder, and fails with EXDEV if that is elsewhere.
func openUnlessOther(at int, name string, flags int) (int, error) {
	fd, err := openat(at, name, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	a, err := mountOf(at)
	if err == nil {
		var b mount
		if b, err = mountOf(fd); err == nil && !a.same(b) {
			err = unix.EXDEV
		}
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// mount is where a file is.
type mount struct {
	id     uint64 // of the mount; 0: the system does not say it
	device uint64 // of the file system
	folder bool
}

// same reports whether two files are on the same mount, as far as it is known. The device of a file that is no folder
// says little: in an overlay it is that of a layer.
func (m mount) same(n mount) bool {
	if m.id != 0 && n.id != 0 {
		return m.id == n.id
	}
	return m.device == n.device || !m.folder || !n.folder
}

func deviceOf(fd int) (mount, error) {
	var s unix.Stat_t
	err := unix.Fstat(fd, &s)
	return mount{device: uint64(s.Dev), folder: s.Mode&unix.S_IFMT == unix.S_IFDIR}, err
}
