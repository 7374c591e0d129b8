package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// The files of a checkpoint that a node has written to the experiment's storage are there alone. The checkpoint's
// folder has the manifest, and gets the files when somebody on the host's machine needs them.

// Away reports whether the files of the checkpoint in dir are in the storage alone.
func (m *Manifest) Away(dir string) bool {
	if m.Stored == "" {
		return false
	}
	_, err := nolink.Lstat(FilesOf(dir))
	return errors.Is(err, fs.ErrNotExist)
}

// AwayAt returns the folder of the checkpoint that a path names, as itself or as its files, if the files are in the
// storage alone; else "".
func AwayAt(path string) string {
	root := wholeCheckpoint(behindLinks(path))
	if root == "" {
		return ""
	}
	if m, err := ReadManifest(root); err != nil || !m.Away(root) {
		return ""
	}
	return root
}

// AwayError says that the files of a checkpoint are not on this machine.
type AwayError struct{ Dir string }

func (e *AwayError) Error() string {
	return fmt.Sprintf("checkpoint %s: its files are in the experiment's storage, and not on this machine", e.Dir)
}

// CommitAway completes a checkpoint whose files are in the storage, as [Dir.Commit] does: the whole manifest
// or nothing.
func (d Dir) CommitAway(trialDir string, id uint32, m Manifest) (bytes int64, err error) {
	return commitAway(realDisk{}, trialDir, id, m)
}

func commitAway(on disk, trialDir string, id uint32, m Manifest) (bytes int64, err error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	dir := staging(trialDir, id)
	if err := errors.Join(nolink.RemoveAll(dir), nolink.MkdirAll(dir, dirMode)); err != nil {
		return 0, err
	}
	return m.Size(), list(on, trialDir, dir, CheckpointDir(trialDir, id), m)
}

// ListFiles lists the files below a folder as a manifest does.
func ListFiles(folder string) (files []File, err error) {
	s := sealer{}
	if s.root, err = nolink.OpenRoot(folder); err != nil {
		return nil, err
	}
	defer s.root.Close()
	_, err = eachFile(folder, func(path string) error {
		rel, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		x, _, err := s.read(rel)
		files = append(files, x)
		return err
	})
	return sorted(files), err
}

// BringFiles gives the checkpoint in dir its files, which fetch puts into an empty folder: all of them, or none.
// It does nothing if they are there.
func BringFiles(dir string, fetch func(m Manifest, folder string) error) error {
	m, err := ReadManifest(dir)
	if err != nil || !m.Away(dir) {
		return err
	}
	folder := FilesOf(dir) + beingMade
	err = errors.Join(nolink.RemoveAll(folder), nolink.MkdirAll(folder, dirMode))
	if err == nil {
		err = fetch(m, folder)
	}
	if err == nil {
		err = seal(folder)
	}
	if err == nil {
		err = nolink.Rename(folder, FilesOf(dir))
	}
	if err != nil {
		return errors.Join(err, nolink.RemoveAll(folder))
	}
	return nolink.Sync(dir)
}

// seal makes the files of a folder durable and read-only.
func seal(folder string) error {
	_, err := eachFile(folder, func(path string) error {
		return errors.Join(nolink.Chmod(path, sealedMode), nolink.Sync(path))
	})
	return err
}
