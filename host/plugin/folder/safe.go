package folder

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/tunehost/tunehost/host/storage/ownership"
	"github.com/tunehost/tunehost/internal/plainfile"
)

// safe refuses a file or folder that other users could change.
func safe(path string, info fs.FileInfo) error { return ownership.Check(path, info) }

// safeFile follows links: the target counts.
func safeFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is %s, expected a file", path, plainfile.KindOf(info.Mode()))
	}
	return safe(path, info)
}
