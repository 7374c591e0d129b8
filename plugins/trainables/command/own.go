package command

import (
	"os"

	"github.com/tunehost/tunehost/internal/plainfile"
)

// openOwn opens a file of the trial's directory. What is in its place and is no plain
// file is refused: a link could lead to any file of the user's, a pipe would be waited for.
func openOwn(dir, name string, flag int) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return plainfile.In(root, name, flag)
}

// replaceOwn puts a file with the content in the place of whatever has the name.
func replaceOwn(dir, name string, content []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return plainfile.Replace(root, name, content)
}
