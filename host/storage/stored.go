package storage

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/untrusted"
)

// A shared directory has copies of experiments, which package mirror lays out. They look much like experiments' own
// directories, but no host may write to them as to its own, and a host that copies to a storage may not write to an
// experiment's own directory.

// LeaseFile is the name of the file in the copy of an experiment that says which host runs it.
const LeaseFile = "lease.json"

// StoredError says that a directory is the copy of an experiment in a storage, not an experiment's own directory.
type StoredError struct{ Path string }

func (e *StoredError) Error() string {
	return fmt.Sprintf("%s is an experiment's copy in a storage that machines share: write its URL in place of the "+
		"path, %s, or --storage %s for `tunehost run`", e.Path, untrusted.Word(fileURL(e.Path)),
		untrusted.Word(fileURL(filepath.Dir(e.Path))))
}

func fileURL(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// CheckOwn returns a [*StoredError] for the copy of an experiment in a storage.
func (d Dir) CheckOwn() error {
	if d.stored() {
		return &StoredError{d.path}
	}
	return nil
}

// CheckStore returns an error for an experiment's own directory, which is no place for a copy of one.
func CheckStore(path string) error {
	d := Dir{path: path}
	files, _ := d.segments()
	if d.stored() || !files && (!d.has("LOCK") || d.has(LeaseFile)) {
		return nil
	}
	return fmt.Errorf("%s is an experiment's own directory, not its copy in a storage: write its path in place of the "+
		"URL, or --storage %s for `tunehost run`", path, untrusted.Word(filepath.Dir(path)))
}

func (d Dir) stored() bool {
	files, folders := d.segments()
	return folders || !files && (d.has("blobs") || d.has(LeaseFile) && !d.has("LOCK"))
}

// segments reports whether the directory has files of a record, and whether it has folders with their pieces, as a
// storage has.
func (d Dir) segments() (files, folders bool) {
	list, _ := os.ReadDir(d.Journal()) // what cannot be read is reported where it is needed
	is := func(dir bool) bool {
		return slices.ContainsFunc(list, func(e fs.DirEntry) bool {
			return e.IsDir() == dir && journal.IsSegment(e.Name())
		})
	}
	return is(false), is(true)
}

func (d Dir) has(name string) bool {
	_, err := os.Lstat(filepath.Join(d.path, name))
	return err == nil
}

// Overlaps reports whether one of two directories is in the other, or is the same, perhaps by another path. They need
// not exist.
func Overlaps(x, y string) bool { return isWithin(x, y) || isWithin(y, x) }

// isWithin compares folders, not paths: a folder may be mounted in two places.
func isWithin(path, folder string) bool {
	of, err := os.Stat(folder)
	if err != nil {
		return Holds(folder, path)
	}
	for path = Real(path); ; path = filepath.Dir(path) {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, of) {
			return true
		}
		if filepath.Dir(path) == path {
			return false
		}
	}
}
