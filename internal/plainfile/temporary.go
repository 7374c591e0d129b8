package plainfile

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

// Temporary is the path of a file in the making that will have another's place. Nobody
// else has it: a user's run.json.tmp is the user's.
func Temporary(path string) string {
	dir, name := filepath.Split(path)
	return dir + "." + name + "." + rand.Text() + ".tunehost-tmp"
}

var temporary = regexp.MustCompile(`^\..+\.[A-Z2-7]{26}\.tunehost-tmp$`)

// IsTemporary says whether a file name was made by [Temporary].
func IsTemporary(name string) bool { return temporary.MatchString(name) }

// Replace puts a file with the content in the place of whatever has the name in a folder.
func Replace(root *os.Root, name string, content []byte) error {
	tmp := Temporary(name)
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(tmp))
	}
	return nil
}
