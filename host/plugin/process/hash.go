package process

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Hash returns the SHA-256 of a program's file in hex, for the lock file. A
// path without a slash is looked up in PATH.
func Hash(path string) (string, error) {
	path, err := exec.LookPath(path)
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// check compares a program's file with the checksum that it must have. The file
// could be changed between this and the start by whoever may write to it: the
// lock guards against accidents, not against the owner.
func check(path, want string) error {
	got, err := Hash(path)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s has changed: its SHA-256 is %s, the lock file says %s", path, got, want)
	}
	return nil
}
