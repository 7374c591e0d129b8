package storage

import (
	"fmt"
	"os"
	"path/filepath"
)

// Bring copies a checkpoint from elsewhere, as a trial's id-th. Where it is one of
// an experiment's, it is compared with its manifest on the way and keeps its
// iteration; any other directory has none.
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
		err = copyTree(from, files)
	} else if err == nil {
		m, err = ReadManifest(root)
		if err == nil {
			err = Restore(root, files)
		}
	}
	if err == nil {
		m.Parent = nil // which is none of this experiment
		_, err = d.Commit(trialDir, id, m)
	}
	return m, err
}

// Iteration is that of a checkpoint of an experiment's, and 0 of any other
// directory.
func Iteration(from string) (uint64, error) {
	root := wholeCheckpoint(behindLinks(from))
	if root == "" {
		return 0, nil
	}
	m, err := CheckCheckpoint(root, false)
	return m.Iteration, err
}

// behindLinks is where a user's path leads; as it is where it leads nowhere.
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

// wholeCheckpoint is the directory with the manifest of the one that a user names,
// which may be that of its files; "" where there is none.
func wholeCheckpoint(dir string) string {
	for _, root := range []string{dir, filepath.Dir(dir)} {
		if _, err := os.Lstat(filepath.Join(root, manifest)); err == nil && (root == dir || filepath.Base(dir) == contents) {
			return root
		}
	}
	return ""
}
