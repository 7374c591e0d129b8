package plainfile

import (
	"crypto/rand"
	"encoding/base32"
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

// Temporary is the path of a file in the making that will have another's place. Nobody
// else has it: a user's run.json.tmp is the user's.
func Temporary(path string) string { return temporaryWith(path, rand.Text()) }

// TemporaryOf is like [Temporary] with an owner's random number in the name: the owner knows
// its own files again.
func TemporaryOf(path string, owner [16]byte) string {
	return temporaryWith(path, base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(owner[:]))
}

func temporaryWith(path, text string) string {
	dir, name := filepath.Split(path)
	return dir + "." + name + "." + text + ".tunehost-tmp"
}

var temporary = regexp.MustCompile(`^\..+\.[A-Z2-7]{26}\.tunehost-tmp$`)

// IsTemporary says whether a file name was made by [Temporary] or [TemporaryOf].
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
