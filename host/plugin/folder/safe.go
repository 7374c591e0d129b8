package folder

import (
	"io/fs"
	"os"

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
