package plainfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Private opens a folder that only its owner can read, and makes it if it is not there. It does not
// follow a link.
func Private(dir string) (*os.Root, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	named, err := os.Lstat(dir)
	if err != nil || !named.IsDir() || named.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s must be a folder that only its owner can read: chmod 700 it, or move it away", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(named, opened) {
		return nil, errors.Join(fmt.Errorf("%s was replaced while it was opened; try again", dir), root.Close())
	}
	return root, nil
}
