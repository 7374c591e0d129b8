package runtimedir

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// maxRoot leaves room for "/h123456/12345".
const maxRoot = MaxPath - len("/h123456/12345")

// places are the possible places of the user's folder, the best first, and the place of a fresh folder
// that only this process knows.
type places struct {
	roots     []string
	otherwise string
}

func runtimePlaces() places {
	var roots []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && Private(dir) == nil {
		roots = append(roots, filepath.Join(dir, "tunehost"))
	}
	return places{fitting(append(roots, of(os.TempDir()), of("/tmp"))), shortTemp()}
}

// Roots returns the folders in one of which the homes for sockets are.
func Roots() []string { return runtimePlaces().roots }

func temporaryPlaces() places { return places{[]string{of(os.TempDir())}, os.TempDir()} }

// of returns the user's folder in a directory that all users share.
func of(shared string) string { return filepath.Join(shared, "tunehost-"+strconv.Itoa(os.Getuid())) }

func fitting(roots []string) (short []string) {
	for _, r := range roots {
		if usable(r, maxRoot) && !slices.Contains(short, r) {
			short = append(short, r)
		}
	}
	return short
}

// usable reports whether the paths of sockets in a folder are short enough, and whether a plugin can
// announce them: its handshake is one line, with a | between its fields.
func usable(path string, most int) bool {
	return len(path) <= most && !strings.ContainsAny(path, "|\r\n")
}

// shortTemp returns a temporary directory whose path is usable.
func shortTemp() string {
	if dir := os.TempDir(); usable(dir, maxRoot-len("/tunehost-0123456789")) {
		return dir
	}
	return "/tmp"
}

// prepare makes the user's folder, or refuses one that others can access.
func prepare(root string) error {
	if err := os.Mkdir(root, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	return Private(root)
}

// Private checks that only the user can access a folder, and that it is no link.
func Private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	return PrivateFolder(dir, info)
}

// PrivateFolder is [Private] for a folder that is open.
func PrivateFolder(dir string, info os.FileInfo) error {
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case !owned(info):
		return fmt.Errorf("%s is another user's", dir)
	case info.Mode().Perm()&0o077 != 0:
		return &SharedError{dir}
	}
	return nil
}

// SharedError says that other users can read a folder.
type SharedError struct{ Dir string }

func (e *SharedError) Error() string {
	return e.Dir + " can be read by other users; run chmod 700 on it"
}

func owned(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

const signs = "0123456789abcdefghijklmnopqrstuv" // 32

// random returns six random letters and digits.
func random() string {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand does not fail
	}
	for i := range b {
		b[i] = signs[b[i]%32]
	}
	return string(b[:])
}
