package storage

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	checkpoints = "checkpoints"
	manifest    = "MANIFEST.json"
	// Limits of one checkpoint.
	maxFiles = 100_000
)

// Manifest lists what a checkpoint holds; a checkpoint without one is not whole.
type Manifest struct {
	Trial     uint32 `json:"trial"`
	Attempt   uint32 `json:"attempt"`
	Iteration uint64 `json:"iteration"`
	Files     []File `json:"files"`
}

// File is one file of a checkpoint.
type File struct {
	Path   string `json:"path"` // with slashes, relative to files/
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// CheckpointDir is where the trial's id-th checkpoint is.
func CheckpointDir(trialDir string, id uint32) string {
	return filepath.Join(trialDir, checkpoints, fmt.Sprintf("%06d", id))
}

// CheckpointFiles is the directory in it that a trainable restores from.
func CheckpointFiles(trialDir string, id uint32) string {
	return filepath.Join(CheckpointDir(trialDir, id), "files")
}

// OwnCheckpoints is where a program makes checkpoints of its own.
func OwnCheckpoints(trialDir string) string { return filepath.Join(trialDir, checkpoints, "own") }

// Stage makes an empty directory for a checkpoint that is to be made.
func Stage(trialDir string, id uint32) (string, error) {
	dir := staging(trialDir, id)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	files := filepath.Join(dir, "files")
	return files, os.MkdirAll(files, dirMode)
}

func staging(trialDir string, id uint32) string { return CheckpointDir(trialDir, id) + ".tmp" }

// Take brings a directory or file that a program made into the staging
// directory. Inside the trial's directory it is moved, else copied.
func Take(trialDir string, id uint32, from string) error {
	if !filepath.IsAbs(from) {
		from = filepath.Join(trialDir, from)
	}
	info, err := os.Lstat(from)
	if err != nil {
		return fmt.Errorf("checkpoint %s: %w", from, reason(err))
	}
	files, err := Stage(trialDir, id)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return copyFile(from, filepath.Join(files, filepath.Base(from)), info)
	}
	if inside(trialDir, from) {
		if err := os.Remove(files); err != nil {
			return err
		}
		return os.Rename(from, files)
	}
	return copyTree(from, files)
}

func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// copyTree copies regular files and directories; anything else is an error,
// since a link or a device could lead out of the checkpoint.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), dirMode)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return copyFile(path, filepath.Join(to, rel), info)
	})
}

func copyFile(from, to string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("checkpoint: %s is %s; a checkpoint may hold only plain files and folders", from, kindOf(info.Mode()))
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a link"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a special file"
}

// Commit makes the staged checkpoint whole: files on disk, then the manifest,
// then the name. A power loss at any instant leaves it or nothing (B-051).
func Commit(trialDir string, id uint32, m Manifest) (bytes int64, err error) {
	dir := staging(trialDir, id)
	if m.Files, err = sealed(filepath.Join(dir, "files")); err != nil {
		return 0, err
	}
	for _, f := range m.Files {
		bytes += f.Bytes
	}
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return 0, err
	}
	if err := writeSynced(filepath.Join(dir, manifest), append(text, '\n')); err != nil {
		return 0, err
	}
	final := CheckpointDir(trialDir, id)
	if err := errors.Join(syncDir(dir), os.RemoveAll(final)); err != nil {
		return 0, err
	}
	if err := os.Rename(dir, final); err != nil {
		return 0, err
	}
	return bytes, syncDir(filepath.Dir(final))
}

// sealed hashes and syncs every file, and syncs every folder.
func sealed(root string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return syncDir(path)
		case !d.Type().IsRegular():
			return fmt.Errorf("checkpoint: %s is %s; a checkpoint may hold only plain files and folders", path, kindOf(d.Type()))
		case len(files) == maxFiles:
			return fmt.Errorf("checkpoint: more than %d files", maxFiles)
		}
		f, err := seal(root, path)
		files = append(files, f)
		return err
	})
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, err
}

func seal(root, path string) (File, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return File{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	hash := sha256.New()
	n, err := io.Copy(hash, f)
	err = errors.Join(err, f.Sync(), f.Close())
	return File{Path: filepath.ToSlash(rel), Bytes: n, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}

// RemoveCheckpoint deletes a checkpoint: first its name, so that nobody sees
// half of one.
func RemoveCheckpoint(trialDir string, id uint32) error {
	dir := CheckpointDir(trialDir, id)
	gone := dir + ".old"
	if err := os.Rename(dir, gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(gone)
}

// CheckCheckpoint reads a checkpoint's manifest and compares it with what is
// there; hashes too if deep.
func CheckCheckpoint(dir string, deep bool) (Manifest, error) {
	var m Manifest
	text, err := os.ReadFile(filepath.Join(dir, manifest))
	if err != nil {
		return m, fmt.Errorf("checkpoint %s is not whole: %w", dir, reason(err))
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("checkpoint %s: %s: %w", dir, manifest, err)
	}
	for _, f := range m.Files {
		if err := checkFile(filepath.Join(dir, "files"), f, deep); err != nil {
			return m, fmt.Errorf("checkpoint %s: %w", dir, err)
		}
	}
	return m, nil
}

func checkFile(root string, f File, deep bool) error {
	path := filepath.Join(root, filepath.FromSlash(f.Path))
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, reason(err))
	}
	if info.Size() != f.Bytes {
		return fmt.Errorf("%s has %d bytes instead of %d", f.Path, info.Size(), f.Bytes)
	}
	if !deep {
		return nil
	}
	if got, err := seal(root, path); err != nil || got.SHA256 != f.SHA256 {
		return fmt.Errorf("%s was changed", f.Path)
	}
	return nil
}

// Bring copies a checkpoint from elsewhere, as a trial's id-th. Where it is one of
// an experiment's, it is checked against its manifest and keeps its iteration; any
// other directory has none.
func Bring(trialDir string, id uint32, from string) (m Manifest, err error) {
	root := wholeCheckpoint(from)
	if root != "" {
		if m, err = CheckCheckpoint(root, true); err != nil {
			return m, err
		}
		from = filepath.Join(root, "files")
	}
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return m, fmt.Errorf("checkpoint %s is no directory", from)
	}
	files, err := Stage(trialDir, id)
	if err == nil {
		err = copyTree(from, files)
	}
	if err == nil {
		_, err = Commit(trialDir, id, m)
	}
	return m, err
}

// Iteration is that of a checkpoint of an experiment's, and 0 of any other
// directory.
func Iteration(from string) (uint64, error) {
	root := wholeCheckpoint(from)
	if root == "" {
		return 0, nil
	}
	m, err := CheckCheckpoint(root, false)
	return m.Iteration, err
}

// wholeCheckpoint is the directory with the manifest of the one that a user names,
// which may be that of its files; "" where there is none.
func wholeCheckpoint(dir string) string {
	for _, root := range []string{dir, filepath.Dir(dir)} {
		if _, err := os.Lstat(filepath.Join(root, manifest)); err == nil && (root == dir || filepath.Base(dir) == "files") {
			return root
		}
	}
	return ""
}
