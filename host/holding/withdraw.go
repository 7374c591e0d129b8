package holding

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// missing returns the directories that must be made for the one at path, and itself, the deepest first.
func missing(path string) (list []string) {
	for {
		if _, err := nolink.Lstat(path); !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return list
		}
		list = append(list, path)
		path = filepath.Dir(path)
	}
}

// withdraw removes what this host has made for an experiment that it refused then: an empty directory would take its
// name. What somebody else has added stays, and so does a log that the refusal names. The caller has the lock.
func (h *Holding) withdraw() {
	if h.log == nil || len(h.made) == 0 || h.Dir.Exists() || !h.bare() {
		return
	}
	for _, path := range []string{h.Dir.Trials(), h.Dir.Log(), filepath.Join(h.Dir.Path(), lockName)} {
		if err := nolink.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	for _, path := range h.made {
		if nolink.Remove(path) != nil {
			return // another experiment has begun there
		}
	}
}

// lockName is the file of the lock in a directory.
const lockName = "LOCK"

// bare reports whether the directory has nothing but what [Take] puts there.
func (h *Holding) bare() bool {
	entries, err := nolink.ReadDir(h.Dir.Path())
	if err != nil {
		return false
	}
	own := []string{lockName, filepath.Base(h.Dir.Log()), filepath.Base(h.Dir.Trials())}
	for _, e := range entries {
		if !slices.Contains(own, e.Name()) {
			return false
		}
	}
	info, err := nolink.Lstat(h.Dir.Log())
	return err == nil && (info.Size() == 0 || !h.named)
}
