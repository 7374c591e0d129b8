package plainfile

import (
	"crypto/rand"
	"encoding/base32"
	"errors"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/internal/lazily"
)

// Temporary returns the path of a temporary file that will replace path. The name is unique: a
// user's run.json.tmp belongs to the user.
func Temporary(path string) string { return temporaryWith(path, rand.Text()) }

// TemporaryOf is like [Temporary] with an owner's random number in the name, so that the owner
// recognises its own files.
func TemporaryOf(path string, owner [16]byte) string {
	return temporaryWith(path, base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(owner[:]))
}

func temporaryWith(path, text string) string {
	dir, name := filepath.Split(path)
	return dir + "." + name + "." + text + ".tunehost-tmp"
}

var temporary = lazily.Regexp(`^\..+\.[A-Z2-7]{26}\.tunehost-tmp$`)

// IsTemporary reports whether a file name was made by [Temporary] or [TemporaryOf].
func IsTemporary(name string) bool { return temporary().MatchString(name) }

// Replace writes a file with the content in a folder and replaces anything with its name but a folder.
func Replace(root *os.Root, name string, content []byte) error {
	if named, err := root.Lstat(name); err == nil && named.IsDir() {
		return NotFile(filepath.Join(root.Name(), name), named.Mode())
	}
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
