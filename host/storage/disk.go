package storage

import (
	"os"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// disk changes files of the store. Each method is at most one step, before or after which the host may
// die. Tests have a disk that dies.
type disk interface {
	// write makes a file that no reader sees yet.
	write(path string, content []byte) error
	// sync makes a file's content or a folder's names durable.
	sync(path string) error
	rename(from, to string) error
	link(from, to string) error
	chmod(path string, mode os.FileMode) error
	remove(path string) error
}

type realDisk struct{}

func (realDisk) write(path string, content []byte) error {
	return nolink.WriteFile(path, content, fileMode)
}
func (realDisk) sync(path string) error                 { return nolink.Sync(path) }
func (realDisk) rename(from, to string) error           { return nolink.Rename(from, to) }
func (realDisk) link(from, to string) error             { return nolink.Link(from, to) }
func (realDisk) chmod(path string, m os.FileMode) error { return nolink.Chmod(path, m) }
func (realDisk) remove(path string) error               { return nolink.RemoveAll(path) }
