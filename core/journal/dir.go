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

// Dir is a directory of the operating system as an FS. All access stays below it, whatever links are in it. A Sync of its files
// fails once it is no longer where it was: what is written then, nobody would find.
type Dir struct {
	root *os.Root
	path string // absolute
}

// MakeDir makes the directory if it is not there, for its owner alone, and opens it for a Journal.
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

// OpenDir opens a directory that exists; a Reader needs no more.
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

// isFolder: a link could lead to another's record, and a pipe would be waited for.
func isFolder(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no directory of its own: put the one with the record in its place", path)
	}
	return err
}

// Close lets go of the directory; files that are open stay so.
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
		if e.Type().IsRegular() {
			names = append(names, e.Name())
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

// Create implements FS. The file is readable by its owner alone.
func (d *Dir) Create(name string) (File, error) {
	f, err := plainfile.In(d.root, name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, d.because(err)
	}
	return osFile{f, d}, nil
}

// Rename implements FS.
func (d *Dir) Rename(from, to string) error { return d.because(d.root.Rename(from, to)) }

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

// there says whether the directory is where it was.
func (d *Dir) there() error {
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

// because is err, or that the directory is gone where that explains it.
func (d *Dir) because(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(d.there(), err)
	}
	return err
}

// GoneError is the path of a file or directory that has been taken from under those who write to it.
type GoneError string

// Error implements error.
func (e GoneError) Error() string {
	return string(e) + " was removed or moved away while it was written to; if it was moved, put it back and go on"
}

// ChangedError is a file of the journal that somebody else has written to or cut.
type ChangedError struct {
	Name       string
	Size, Left int64
}

// Error implements error.
func (e ChangedError) Error() string {
	return fmt.Sprintf("%s was changed by somebody else: it has %d bytes, and %d were written", e.Name, e.Size, e.Left)
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

// Length is the file's size, whoever has written to it.
func (f osFile) Length() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// finalName is the name that a file has or, in the making, will have.
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
	return f.dir.there()
}
