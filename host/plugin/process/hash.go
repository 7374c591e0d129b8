package process

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/tunehost/tunehost/internal/plainfile"
)

// Hash returns the SHA-256 of a program's file in hex, for the lock file. A
// path without a slash is looked up in PATH.
func Hash(path string) (string, error) {
	path, err := exec.LookPath(path)
	if err != nil {
		return "", err
	}
	return HashFile(path)
}

// HashFile returns the SHA-256 of any plain file in hex.
func HashFile(path string) (string, error) {
	f, err := openFile(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	return hashOf(f)
}

// openFile opens a file, and waits for no pipe that has its name.
func openFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := plainfile.Check(f, os.O_RDONLY); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func hashOf(f *os.File) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// ChangedError says that a file is not the one that it must be.
type ChangedError struct{ Path, Got, Want string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s has changed: its SHA-256 is %s, expected %s", e.Path, e.Got, e.Want)
}

// pinned is the program to execute, once it and the other files are what they
// must be. What is executed is what was hashed: on Linux a binary is started by
// the very file that was read, so that another one put in its place meanwhile
// is not. A script is read again by its interpreter, by its path; for that, and
// elsewhere than on Linux, the check guards against accidents, not against
// whoever may write to the plugin's folder.
func (c *Config) pinned() (path string, held *os.File, err error) {
	for _, file := range sortedKeys(c.Files) {
		if err := check(file, c.Files[file]); err != nil {
			return "", nil, err
		}
	}
	if c.SHA256 == "" {
		return c.Path, nil, nil
	}
	file, err := exec.LookPath(c.program())
	if err != nil {
		return "", nil, err
	}
	f, err := openFile(file)
	if err != nil {
		return "", nil, err
	}
	got, err := hashOf(f)
	if err == nil && got != c.SHA256 {
		err = &ChangedError{file, got, c.SHA256}
	}
	if link := linkTo(f); err == nil && link != "" && !isScript(f) {
		return link, f, nil
	}
	_ = f.Close()
	return c.Path, nil, err
}

// check compares a file with the checksum that it must have.
func check(path, want string) error {
	got, err := HashFile(path)
	if err == nil && got != want {
		err = &ChangedError{path, got, want}
	}
	return err
}

// isScript says whether the kernel hands the file to an interpreter, by its
// path: that of an open file is gone by then.
func isScript(f *os.File) bool {
	var begin [2]byte
	_, err := f.ReadAt(begin[:], 0)
	return err != nil || bytes.Equal(begin[:], []byte("#!"))
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
