package folder

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/ours"
)

// safe refuses a file or folder that somebody else could change.
func safe(path string, info fs.FileInfo) error { return ours.Check(path, info) }

// safeFile follows links: what counts is the file that is used.
func safeFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return safe(path, info)
}

// safeAround refuses a file in a folder in which everybody can replace it.
func safeAround(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil || info.Mode()&0o002 == 0 || info.Mode()&fs.ModeSticky != 0 {
		return err
	}
	return fmt.Errorf("%s is in a folder that everybody can write to (%v), who could change what runs as you: run chmod o-w %s", path, info.Mode(), dir)
}
