package local

import (
	"crypto/rand"
	"encoding/hex"
	"path/filepath"
)

// MarkVariable is in the environment of everything that a host starts, and of
// what that starts: by it the host's processes are known.
const MarkVariable = "TUNEHOST_HOST"

// markSign separates the experiment's directory from the host's own part.
const markSign = "#"

// NewMark makes the mark of one host on the experiment in dir, an absolute path.
func NewMark(dir string) string {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand does not fail
	}
	return filepath.Clean(dir) + markSign + hex.EncodeToString(b[:])
}
