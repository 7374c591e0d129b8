package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tunehost/tunehost/host/lockfile"
	"github.com/tunehost/tunehost/host/runfile"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// holdings are the files by which an experiment is known, as this host has left them.
// Nobody changes them while it runs; the next host could not go on with others.
type holdings []*heldFile

type heldFile struct {
	path    string
	content []byte
	info    fs.FileInfo
}

// maxHeld is larger than any of them.
const maxHeld = 64 << 20

// hold remembers what the experiment's files are.
func (s *session) hold() error {
	if s.lock == nil {
		return nil
	}
	for _, path := range []string{runfile.Path(s.dir), lockfile.Path(s.dir), s.dir.Experiment()} {
		h := &heldFile{path: path}
		if err := h.look(); err != nil {
			return err
		}
		s.holdings = append(s.holdings, h)
	}
	return nil
}

func (h *heldFile) look() (err error) {
	if h.content, err = storage.ReadFile(h.path, maxHeld); err == nil {
		h.info, err = nolink.Lstat(h.path)
	}
	return err
}

// check is an error where one of them is not what it was. It is put back: without run.json
// the record could not be gone on with.
func (list holdings) check() error {
	for _, h := range list {
		if err := h.check(); err != nil {
			return err
		}
	}
	return nil
}

func (h *heldFile) check() error {
	now, err := nolink.Lstat(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h.back("removed", "")
	case err != nil || h.untouched(now):
		return nil // what cannot be looked at now, the record's next look or the next host reports
	}
	if text, err := storage.ReadFile(h.path, maxHeld); err == nil && bytes.Equal(text, h.content) {
		h.info = now // written again as it was
		return nil
	}
	kept, err := setBeside(h.path)
	if err != nil {
		return fmt.Errorf("%s was changed by somebody else while the host ran: %w; what it was cannot be put back", h.path, err)
	}
	return h.back("changed", fmt.Sprintf(", and what was put there is %s", kept))
}

func (h *heldFile) untouched(now fs.FileInfo) bool {
	return os.SameFile(now, h.info) && now.Size() == h.info.Size() && now.ModTime().Equal(h.info.ModTime())
}

// back writes the file as it was.
func (h *heldFile) back(what, more string) error {
	if err := storage.WriteFile(h.path, h.content); err != nil {
		return fmt.Errorf("%s was %s by somebody else while the host ran, and cannot be put back: %w", h.path, what, err)
	}
	return fmt.Errorf("%s was %s by somebody else while the host ran: it is put back as it was%s; go on with the experiment",
		h.path, what, more)
}

// setBeside gives what is at a path another name, which nothing has.
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
