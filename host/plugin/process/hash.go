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

// Hash returns the SHA-256 of a program's file in hex, for the lock file. A path without a slash is
// looked up in PATH.
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

// openFile opens a file without waiting for a pipe of that name.
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

// ChangedError says that a file has another checksum than required.
type ChangedError struct{ Path, Got, Want string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s has changed: its SHA-256 is %s, expected %s", e.Path, e.Got, e.Want)
}

// pinned returns the program to execute, after checking it and the other files. On Linux a binary is
// started through the open file that was hashed, so that a file put in its place in the meantime is
// not executed. An interpreter opens a script again by its path. For scripts, and on other systems,
// the check guards against accidents, not against users who can write to the plugin's folder.
func (c *Program) pinned() (path string, held *os.File, err error) {
	for _, file := range sortedKeys(c.Files) {
		if err := check(file, c.Files[file]); err != nil {
			return "", nil, err
		}
	}
	if c.SHA256 == "" {
		return c.Path, nil, nil
	}
	file, err := exec.LookPath(c.file())
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

// check compares a file with its required checksum.
func check(path, want string) error {
	got, err := HashFile(path)
	if err == nil && got != want {
		err = &ChangedError{path, got, want}
	}
	return err
}

// isScript reports whether the kernel passes the path of the file to an interpreter, which cannot use
// a path to an open file.
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
