package storage

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/internal/plainfile"
)

// sealedMode is that of a checkpoint's files: nobody writes to them any more.
const sealedMode = 0o400

// Commit makes the staged checkpoint whole: files on disk, then the manifest,
// then the name. A power loss at any instant leaves it or nothing (B-051). Its
// files are not copied, and those that another checkpoint of the experiment has
// too are there once.
func (d Dir) Commit(trialDir string, id uint32, m Manifest) (bytes int64, err error) {
	return commit(realDisk{}, d.Blobs(), trialDir, id, m)
}

func commit(on disk, blobs, trialDir string, id uint32, m Manifest) (bytes int64, err error) {
	if err := finish(on, trialDir, id, m); err != nil {
		return 0, err
	}
	return commitAs(on, blobs, trialDir, kept(trialDir, id), CheckpointDir(trialDir, id), m)
}

// commitAs makes what is staged in dir whole under its final name.
func commitAs(on disk, blobs, trialDir, dir, final string, m Manifest) (bytes int64, err error) {
	s := sealer{disk: on, blobs: blobs, dir: dir}
	if m.Files, err = s.seal(); err != nil {
		return 0, err
	}
	text, err := m.text()
	if err != nil {
		return 0, err
	}
	listed, list := filepath.Join(dir, manifest), filepath.Join(dir, manifest+beingMade)
	return m.Size(), steps(
		func() error { return on.write(list, text) },
		func() error { return on.sync(list) },
		func() error { return on.rename(list, listed) },
		func() error { return on.sync(dir) },
		func() error { return makeWay(on, final) },
		func() error { return on.rename(dir, final) },
		func() error { return on.sync(filepath.Dir(final)) },
		// The folders above may be new, too.
		func() error { return on.sync(trialDir) },
		func() error { return on.sync(filepath.Dir(trialDir)) },
	)
}

// makeWay removes a checkpoint of an earlier host, which is not recorded. What is no
// checkpoint is a program's own, and gets another name (B-155).
func makeWay(on disk, final string) error {
	if _, err := nolink.Lstat(final); errors.Is(err, fs.ErrNotExist) || isCheckpoint(final) {
		return removeCheckpoint(on, final)
	}
	for n := 1; ; n++ {
		kept := fmt.Sprintf("%s.kept%d", final, n)
		switch _, err := nolink.Lstat(kept); {
		case errors.Is(err, fs.ErrNotExist):
			return on.rename(final, kept)
		case err != nil: // no other name could be looked at either
			return err
		}
	}
}

// steps does one after the other until one fails.
func steps(list ...func() error) error {
	for _, do := range list {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// sealer makes the files of a staging directory durable and unchangeable.
type sealer struct {
	disk
	blobs string
	dir   string
	root  *os.Root
	files []File
}

func (s *sealer) seal() (files []File, err error) {
	top := filepath.Join(s.dir, contents)
	if s.root, err = nolink.OpenRoot(top); err != nil {
		return nil, err
	}
	defer s.root.Close()
	var folders []string
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			folders = append(folders, path)
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("checkpoint: %s is %s; a checkpoint may hold only plain files and folders", path, nolink.KindOf(d.Type()))
		case !utf8.ValidString(strings.TrimPrefix(path, top)): // a manifest, which is JSON, could not name it
			return fmt.Errorf("checkpoint: the name %q is not UTF-8; rename the file", path)
		case len(s.files) == maxFiles:
			return fmt.Errorf("checkpoint: more than %d files", maxFiles)
		}
		return s.file(path)
	})
	for _, f := range slices.Backward(folders) { // the innermost first
		if err == nil {
			err = s.sync(f)
		}
	}
	slices.SortFunc(s.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return s.files, err
}

func (s *sealer) file(path string) error {
	rel, err := filepath.Rel(s.root.Name(), path)
	if err != nil {
		return err
	}
	x, links, err := s.read(rel)
	if err != nil {
		return err
	}
	blob := blobIn(s.blobs, x.SHA256)
	if links > 1 && !same(blob, path) {
		// Whoever has the other name could still write to it.
		if err := s.private(path); err != nil {
			return err
		}
		if x, _, err = s.read(rel); err != nil {
			return err
		}
		blob = blobIn(s.blobs, x.SHA256)
	}
	s.files = append(s.files, x)
	if err := s.chmod(path, sealedMode); err != nil {
		return err
	}
	if x.Bytes >= minShared && s.share(blob, path) {
		return nil
	}
	if err := s.sync(path); err != nil {
		return err
	}
	if x.Bytes >= minShared {
		s.offer(path, blob)
	}
	return nil
}

// read hashes a file, in one pass.
func (s *sealer) read(rel string) (x File, links uint64, err error) {
	f, err := plainfile.In(s.root, rel, os.O_RDONLY)
	if err != nil {
		return x, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return x, 0, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return File{Path: filepath.ToSlash(rel), Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, linksOf(info), err
}

// private replaces a file by a copy that has no other name.
func (s *sealer) private(path string) error {
	info, err := nolink.Lstat(path)
	if err != nil {
		return err
	}
	tmp := filepath.Join(s.dir, "copy")
	if err := errors.Join(s.remove(tmp), copyFile(path, tmp, info)); err != nil {
		return err
	}
	return s.rename(tmp, path)
}

func hash(in io.Reader) (string, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, in)
	return hex.EncodeToString(sum.Sum(nil)), err
}
