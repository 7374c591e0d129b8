package command

import (
	"os"

	"github.com/tunehost/tunehost/internal/plainfile"
)

// openOwn opens a file in the trial's directory. It refuses anything but a regular file: a link
// could lead to any file of the user, and a pipe would block.
func openOwn(dir, name string, flag int) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return plainfile.In(root, name, flag)
}

// replaceOwn writes a file with the content and replaces anything with its name.
func replaceOwn(dir, name string, content []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return plainfile.Replace(root, name, content)
}
