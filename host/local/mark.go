package local

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// MarkVariable is in the environment of every process that a host starts, and of its descendants. It
// identifies the host's processes.
const MarkVariable = "TUNEHOST_HOST"

// markSign separates the experiment's directory from the host's own part.
const markSign = "#"

// markBytes is the length of the host's own part, which is hexadecimal.
const markBytes = 8

// NewMark makes the mark of one host on the experiment in dir, an absolute path.
func NewMark(dir string) string {
	var b [markBytes]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand does not fail
	}
	return canonical(dir) + markSign + hex.EncodeToString(b[:])
}

// NewMarkAlone makes a mark for processes of no experiment, which no host on an experiment takes for its own.
func NewMarkAlone() string {
	var b [markBytes]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand does not fail
	}
	return NewMark("/" + hex.EncodeToString(b[:]))
}

// isMark reports whether a text is a mark of any host.
func isMark(text string) bool {
	at := strings.LastIndex(text, markSign)
	own, err := hex.DecodeString(text[at+1:])
	return at >= 0 && err == nil && len(own) == markBytes
}

// canonical returns the same path for all paths that lead to dir.
func canonical(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return filepath.Clean(dir)
}

// Tag is a mark as a number. Processes inherit it as the soft limit of RLIMIT_RTTIME, which programs
// do not use: its values are beyond 100,000 years of processor time. Unlike a variable it survives a
// cleared environment, a new session, another directory and the end of the parent. 0 is no tag.
//
//	bits 48 to 63   tagMagic
//	bits 16 to 47   the experiment's directory
//	bits  0 to 15   the host
type Tag uint64

const tagMagic = 0x5448

// TagOf returns the tag of what the host with a mark starts.
func TagOf(mark string) Tag {
	dir := mark[:max(strings.LastIndex(mark, markSign), 0)]
	return tagOfDir(dir) | Tag(sumOf(mark)&0xffff)
}

// tagOfDir returns the part of a tag that all hosts of an experiment share; dir is canonical.
func tagOfDir(dir string) Tag { return tagMagic<<48 | Tag(sumOf(dir)&0xffff_ffff)<<16 }

func (t Tag) sameDir(other Tag) bool { return t>>16 == other>>16 }

func sumOf(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:8])
}
