package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Bring copies a checkpoint from elsewhere, as a trial's id-th. A checkpoint of an experiment is
// compared with its manifest and keeps its iteration; any other directory has none.
func (d Dir) Bring(trialDir string, id uint32, from string) (m Manifest, err error) {
	from = behindLinks(from)
	root := wholeCheckpoint(from)
	if root != "" {
		from = filepath.Join(root, contents)
	}
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return m, fmt.Errorf("checkpoint %s is not a directory", from)
	}
	files, err := Stage(trialDir, id)
	if err == nil && root == "" {
		err = unwatched.copyTree(from, files)
	} else if err == nil {
		m, err = ReadManifest(root)
		if err == nil {
			err = Restore(root, files)
		}
	}
	if err == nil {
		m.Parent = nil // a parent is in another experiment
		_, err = d.Commit(trialDir, id, m)
	}
	if err != nil {
		err = errors.Join(err, unbring(trialDir, id))
	}
	return m, err
}

// Bringable returns the reason why [Dir.Bring] refuses a directory. It copies nothing.
func Bringable(from string) error {
	from = behindLinks(from)
	if root := wholeCheckpoint(from); root != "" {
		_, err := CheckCheckpoint(root, true)
		return err
	}
	_, err := eachFile(from, func(path string) error {
		f, err := nolink.Open(path)
		if err != nil {
			return err
		}
		return f.Close()
	})
	return err
}

// unbring removes what Bring has made and could not complete.
func unbring(trialDir string, id uint32) error {
	err := errors.Join(nolink.RemoveAll(staging(trialDir, id)), nolink.RemoveAll(kept(trialDir, id)))
	for _, dir := range []string{filepath.Join(trialDir, checkpoints), trialDir} {
		_ = nolink.Remove(dir) // unless it has something else
	}
	return err
}

// Holds reports whether a path is in a directory, or is the directory; it need not exist.
func Holds(dir, path string) bool {
	dir, path = behindLinks(dir), Real(path)
	return dir == path || inside(dir, path)
}

// Real resolves the links of the part of a path that exists.
func Real(path string) string {
	path, err := filepath.Abs(path)
	if err != nil || path == filepath.Dir(path) {
		return path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Join(Real(filepath.Dir(path)), filepath.Base(path))
}

// Iteration returns the iteration of an experiment's checkpoint, and 0 for any other directory.
func Iteration(from string) (uint64, error) {
	root := wholeCheckpoint(behindLinks(from))
	if root == "" {
		return 0, nil
	}
	m, err := CheckCheckpoint(root, false)
	return m.Iteration, err
}

// FilesAt returns the folder with the files of the checkpoint at a path, which may be that folder.
func FilesAt(from string) string {
	if root := wholeCheckpoint(from); root != "" {
		return filepath.Join(root, contents)
	}
	return from
}

// behindLinks resolves the links of a user's path; it returns the path unchanged where that fails.
func behindLinks(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	return path
}

// wholeCheckpoint returns the directory with the manifest of the checkpoint at dir, which may be the
// directory of its files; "" if there is none.
func wholeCheckpoint(dir string) string {
	for _, root := range []string{dir, filepath.Dir(dir)} {
		if _, err := os.Lstat(filepath.Join(root, manifest)); err == nil &&
			(root == dir || filepath.Base(dir) == contents) {
			return root
		}
	}
	return ""
}
