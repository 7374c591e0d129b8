package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/sparse"
)

// Names in a trial's directory and in its checkpoints.
const (
	checkpoints = "checkpoints"
	contents    = "files"
	restored    = "restored"
	own         = "own"
	beingMade   = ".tmp"
	beingKept   = ".new"
	beingGone   = ".old"
	halfCopy    = "copy" // a file, until it has its place
	halfLink    = "link"
)

// CheckpointDir returns the directory of the trial's id-th checkpoint.
func CheckpointDir(trialDir string, id uint32) string {
	return filepath.Join(trialDir, checkpoints, fmt.Sprintf("%06d", id))
}

// CheckpointFiles returns the directory in the checkpoint that a trainable restores from.
func CheckpointFiles(trialDir string, id uint32) string {
	return FilesOf(CheckpointDir(trialDir, id))
}

// FilesOf returns the directory of the files of the checkpoint in dir.
func FilesOf(dir string) string { return filepath.Join(dir, contents) }

// RestoredDir returns the directory of an attempt's own copy of the checkpoint that it restores.
func RestoredDir(trialDir string, attempt uint32) string {
	return filepath.Join(trialDir, checkpoints, restored, fmt.Sprintf("%06d", attempt))
}

// MakeWay gives what stands where the copy of a new attempt goes, which no host has put there, another name (B-155);
// kept is "" if nothing does.
func MakeWay(copied string) (kept string, err error) {
	if _, err := nolink.Lstat(copied); err != nil {
		return "", unlessMissing(err)
	}
	return keepAside(realDisk{}, copied)
}

// OwnCheckpoints returns the directory where a program makes its checkpoints.
func OwnCheckpoints(trialDir string) string { return filepath.Join(trialDir, checkpoints, own) }

// Stage makes an empty directory for a new checkpoint.
func Stage(trialDir string, id uint32) (string, error) {
	dir := staging(trialDir, id)
	if err := clearAway(realDisk{}, dir); err != nil {
		return "", err
	}
	// If all trials were moved away, a new trial directory would be lost among none.
	if _, err := nolink.Lstat(filepath.Dir(trialDir)); err != nil {
		return "", err
	}
	files := filepath.Join(dir, contents)
	return files, nolink.MkdirAll(files, dirMode)
}

// Staged returns the directory that Stage makes.
func Staged(trialDir string, id uint32) string { return filepath.Join(staging(trialDir, id), contents) }

func staging(trialDir string, id uint32) string { return CheckpointDir(trialDir, id) + beingMade }

// Take brings a directory or file that a program made into the staging directory. It moves what lies
// in the trial's directory and copies everything else. The program may have put a link in the place of
// the trial's directory, which is not followed.
func Take(trialDir string, id uint32, from string) error { return unwatched.Take(trialDir, id, from) }

// Take is the function Take for a save that may be given up.
func (s *Saving) Take(trialDir string, id uint32, from string) error {
	if err := nolink.IsDir(trialDir); err != nil {
		return err
	}
	from, err := placed(in(trialDir, from))
	if err != nil {
		return fmt.Errorf("checkpoint %s: %w", from, reason(err))
	}
	info, err := os.Lstat(from)
	if err != nil {
		return fmt.Errorf("checkpoint %s: %w", from, reason(err))
	}
	if inside(from, staging(trialDir, id)) {
		return &insideError{from}
	}
	files, err := Stage(trialDir, id)
	if err != nil {
		return err
	}
	if s != nil && !movable(trialDir, from) {
		s.begins(sizeOf(from))
	}
	if !info.IsDir() { // files holds all of it, or a partial copy that is made again
		half := filepath.Join(filepath.Dir(files), halfCopy)
		if err := s.copyFile(from, half, info); err != nil {
			return err
		}
		return nolink.Rename(half, filepath.Join(files, filepath.Base(from)))
	}
	if movable(trialDir, from) {
		if err := nolink.NoMounts(from); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		if err := nolink.Remove(files); err != nil {
			return err
		}
		return nolink.Rename(from, files)
	}
	return s.copyTree(from, files)
}

// in returns a path that a program in the trial's directory names.
func in(trialDir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(trialDir, path)
}

// placed resolves the links of a path.
func placed(path string) (string, error) {
	parent, err := filepath.EvalSymlinks(filepath.Dir(filepath.Clean(path)))
	if err != nil {
		return path, err
	}
	return filepath.Join(parent, filepath.Base(path)), nil
}

// insideError says that a checkpoint would contain itself.
type insideError struct{ from string }

func (e *insideError) Error() string {
	return fmt.Sprintf("checkpoint %s: it would be copied into itself; hand over a folder that holds nothing else",
		e.from)
}

// movable reports whether a path may be moved: complete checkpoints stay where they are.
func movable(trialDir, from string) bool {
	all := filepath.Join(trialDir, checkpoints)
	return inside(trialDir, from) && (!inside(all, from) || inside(OwnCheckpoints(trialDir), from))
}

func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// copyTree copies regular files and directories; anything else is an error, since a link or a device
// could lead out of the checkpoint.
func (s *Saving) copyTree(from, to string) error {
	target, err := os.Lstat(to)
	if err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case os.SameFile(info, target): // by a path that Take did not resolve
			return &insideError{from}
		case d.IsDir():
			return nolink.MkdirAll(filepath.Join(to, rel), dirMode)
		}
		return s.copyFile(path, filepath.Join(to, rel), info)
	})
}

// openSeen opens a file that was seen before, and fails if the path has another file by now.
func openSeen(path string, seen fs.FileInfo) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(seen, now) {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s was replaced while it was copied", path))
	}
	return f, nil
}

func (s *Saving) copyFile(from, to string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("checkpoint: %s is %s; a checkpoint may hold only plain files and folders", from,
			nolink.KindOf(info.Mode()))
	}
	in, err := openSeen(from, info)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := nolink.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = sparse.Copy(out, in, s.watchers()...)
	return errors.Join(err, out.Close())
}
