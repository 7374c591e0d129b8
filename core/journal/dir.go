package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/internal/plainfile"
)

// A Dir is a directory of the operating system as an FS. All access stays inside it, even if it
// contains links. Sync of its files fails if the directory or the file has been moved, because
// the data could not be found.
type Dir struct {
	root *os.Root
	path string // absolute
}

// MakeDir creates the directory with mode 0700 if it does not exist, and opens it for a Journal.
func MakeDir(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	parent, err := OpenDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	if err := parent.SyncDir(); err != nil {
		return nil, err
	}
	return OpenDir(path)
}

// OpenDir opens an existing directory for a Reader.
func OpenDir(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := isFolder(path); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Dir{root, path}, nil
}

// isFolder refuses links, which could lead to another record, and pipes, which would block.
func isFolder(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = &plainfile.Error{Path: path, Is: plainfile.KindOf(info.Mode()) + ", not a directory",
			Do: "put the directory with the record in its place"}
	}
	return err
}

// Close closes the directory; open files stay open.
func (d *Dir) Close() error { return d.root.Close() }

// List implements ReadFS.
func (d *Dir) List() ([]string, error) {
	dir, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		switch {
		case e.Type().IsRegular():
			names = append(names, e.Name())
		case IsSegment(e.Name()): // without it, the record would look gone or damaged
			return nil, &plainfile.Error{Path: filepath.Join(d.path, e.Name()), Is: plainfile.KindOf(e.Type()),
				Do: "put the file with the record in its place"}
		}
	}
	return names, nil
}

// Open implements ReadFS.
func (d *Dir) Open(name string) (ReadFile, error) {
	f, err := plainfile.In(d.root, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return osFile{f, d}, nil
}

// Create implements FS. The file has mode 0600.
func (d *Dir) Create(name string) (File, error) {
	f, err := plainfile.In(d.root, name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, d.orGone(err)
	}
	return osFile{f, d}, nil
}

// Rename implements FS.
func (d *Dir) Rename(from, to string) error { return d.orGone(d.root.Rename(from, to)) }

// Remove implements FS.
func (d *Dir) Remove(name string) error { return d.root.Remove(name) }

// SyncDir implements FS.
func (d *Dir) SyncDir() error {
	dir, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// checkPresent checks that the directory is still in its place.
func (d *Dir) checkPresent() error {
	now, err := os.Stat(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return GoneError(d.path)
	}
	if err != nil {
		return err
	}
	opened, err := d.root.Stat(".")
	if err == nil && !os.SameFile(opened, now) {
		err = GoneError(d.path)
	}
	return err
}

// orGone returns err, or a GoneError if the directory is gone.
func (d *Dir) orGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(d.checkPresent(), err)
	}
	return err
}

// A GoneError is the path of a file or directory that was removed or moved while it was written to.
type GoneError string

// Error implements error.
func (e GoneError) Error() string {
	return string(e) + " was removed or moved away while it was written to; if it was moved, put it back and resume"
}

// A ChangedError describes a file of the journal that another process wrote to or truncated.
type ChangedError struct {
	Name       string
	Size, Left int64
}

// Error implements error.
func (e ChangedError) Error() string {
	return fmt.Sprintf("%s was changed by another program: it has %d bytes, and %d were written", e.Name, e.Size,
		e.Left)
}

type osFile struct {
	*os.File
	dir *Dir
}

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is no regular file", f.Name())
	}
	return info.Size(), nil
}

// Length returns the size of the file, including writes of other processes.
func (f osFile) Length() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// finalName returns the final name of a file that may still be temporary.
func finalName(name string) string {
	if base, ok := segmentInMaking(name); ok {
		return base
	}
	return name
}

// Sync implements File.
func (f osFile) Sync() error {
	if err := syncData(f.File); err != nil {
		return err
	}
	if removed(f.File) {
		return GoneError(filepath.Join(f.dir.path, finalName(filepath.Base(f.Name()))))
	}
	return f.dir.checkPresent()
}
