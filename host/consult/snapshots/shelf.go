package snapshots

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Shelf keeps snapshots by name.
type Shelf interface {
	// List returns the names, in any order.
	List() []string
	Read(name string) ([]byte, error)
	// Write keeps one: after a crash it is complete or absent.
	Write(name string, contents []byte) error
	Remove(name string) error
}

// Folder keeps snapshots in a folder, which the first snapshot makes.
type Folder string

// maxFile is larger than any snapshot's file.
const maxFile = 17 << 20

func (d Folder) file(name string) string { return filepath.Join(string(d), name) }

// List implements Shelf.
func (d Folder) List() (names []string) {
	entries, _ := nolink.ReadDir(string(d)) // no directory, no snapshots
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Read implements Shelf.
func (d Folder) Read(name string) ([]byte, error) {
	return nolink.ReadFile(d.file(name), maxFile)
}

// Write implements Shelf.
func (d Folder) Write(name string, contents []byte) error {
	if err := nolink.Mkdir(string(d), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return storage.WriteFile(d.file(name), contents)
}

// Remove implements Shelf.
func (d Folder) Remove(name string) error { return nolink.Remove(d.file(name)) }
