package holding

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/tunehost/tunehost/host/plugin/lockfile"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/lack"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/runfile"
)

// files are the files by which an experiment is known, as this host wrote them. Nobody may change
// them while it runs: the next host could not resume with others.
type files []*heldFile

type heldFile struct {
	mu      sync.Mutex // guards what follows
	path    string
	content []byte
	info    fs.FileInfo
}

// CheckTrials returns an error if the folder of trials was removed or moved away, also where somebody has made
// another in its place: what trials have written is in the first one.
func (h *Holding) CheckTrials() error {
	if err := h.Dir.Check(); err != nil {
		return err
	}
	now, err := nolink.Lstat(h.Dir.Trials())
	if err == nil && h.trials != nil && !os.SameFile(now, h.trials) {
		return fmt.Errorf("%s was removed or moved away while the host ran, and another folder is in its place: put "+
			"the first one back, and resume", h.Dir.Trials())
	}
	return nil // an error of Lstat is reported by the trials
}

// maxHeld, in bytes, is larger than any of them.
const maxHeld = 64 << 20

// Remember remembers the content of the files of an experiment that begins to run, for Check.
func (h *Holding) Remember() error {
	if !h.Kept() {
		return nil
	}
	if h.Disk.Note != nil {
		h.Disk.Note(lack.Nothing) // makes the file of notes, while one can be made
	}
	h.trials, _ = nolink.Lstat(h.Dir.Trials())
	for _, path := range []string{runfile.Path(h.Dir), lockfile.Path(h.Dir), h.Dir.Experiment()} {
		f := &heldFile{path: path}
		if err := f.look(); err != nil {
			return err
		}
		h.files = append(h.files, f)
	}
	return nil
}

func (h *heldFile) look() (err error) {
	if h.content, err = storage.ReadFile(h.path, maxHeld); err == nil {
		h.info, err = nolink.Lstat(h.path)
	}
	return err
}

// check is an error where one of them was changed. It is put back: without run.json the record
// could not be resumed.
func (list files) check() error {
	for _, h := range list {
		if err := h.check(); err != nil {
			return err
		}
	}
	return nil
}

func (h *heldFile) check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, err := nolink.Lstat(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h.back("removed", "")
	case err != nil || h.untouched(now):
		return nil // an error of Lstat is reported by the journal or the next host
	}
	if text, err := storage.ReadFile(h.path, maxHeld); err == nil && bytes.Equal(text, h.content) {
		h.info = now // written again with the same content
		return nil
	}
	kept, err := setBeside(h.path)
	if err != nil {
		return fmt.Errorf("%s was changed by another program while the host ran: %w; it cannot be restored",
			h.path, err)
	}
	return h.back("changed", fmt.Sprintf(", and the other file is now %s", kept))
}

// Rewrite replaces one of the files, which Check then expects.
func (h *Holding) Rewrite(path string, text []byte) error {
	for _, f := range h.files {
		if f.path == path {
			return f.rewrite(text)
		}
	}
	return storage.WriteFile(path, text)
}

func (h *heldFile) rewrite(text []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := storage.WriteFile(h.path, text); err != nil {
		return err
	}
	return h.look()
}

func (h *heldFile) untouched(now fs.FileInfo) bool {
	return os.SameFile(now, h.info) && now.Size() == h.info.Size() && now.ModTime().Equal(h.info.ModTime())
}

// back writes the file as it was.
func (h *heldFile) back(what, more string) error {
	if err := storage.WriteFile(h.path, h.content); err != nil {
		return fmt.Errorf("%s was %s by another program while the host ran, and cannot be restored: %w", h.path, what,
			err)
	}
	return fmt.Errorf("%s was %s by another program while the host ran: it is restored%s; resume the "+
		"experiment", h.path, what, more)
}

// setBeside renames what is at path to a free name.
func setBeside(path string) (string, error) {
	for n := 1; ; n++ {
		kept := fmt.Sprintf("%s.changed-%d", path, n)
		_, err := nolink.Lstat(kept)
		if errors.Is(err, fs.ErrNotExist) {
			return kept, nolink.Rename(path, kept)
		}
		if err != nil {
			return "", err
		}
	}
}
