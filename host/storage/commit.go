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
	"github.com/tunehost/tunehost/host/storage/sparse"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/internal/plainfile"
)

// sealedMode makes a checkpoint's files read-only.
const sealedMode = 0o400

// Commit completes the staged checkpoint: files on disk, then the manifest, then the name. A power
// loss at any instant leaves the whole checkpoint or nothing (B-051). Files are not copied; files that
// another checkpoint of the experiment has are shared.
func (d Dir) Commit(trialDir string, id uint32, m Manifest) (bytes int64, err error) {
	return d.commit(realDisk{}, trialDir, id, m)
}

func (d Dir) commit(on disk, trialDir string, id uint32, m Manifest) (bytes int64, err error) {
	if err := finish(on, trialDir, id, m); err != nil {
		return 0, err
	}
	return d.commitAs(on, trialDir, kept(trialDir, id), CheckpointDir(trialDir, id), m)
}

// commitAs completes what is staged in dir under its final name.
func (d Dir) commitAs(on disk, trialDir, dir, final string, m Manifest) (bytes int64, err error) {
	s := sealer{disk: on, blobs: d.Blobs(), dir: dir, saving: d.saving}
	if m.Files, err = s.seal(); err != nil {
		return 0, err
	}
	return m.Size(), list(on, trialDir, dir, final, m)
}

// list writes the manifest of what is in dir, and gives dir its final name.
func list(on disk, trialDir, dir, final string, m Manifest) error {
	text, err := m.text()
	if err != nil {
		return err
	}
	listed, made := filepath.Join(dir, manifest), filepath.Join(dir, manifest+beingMade)
	return steps(
		func() error { return on.write(made, text) },
		func() error { return on.sync(made) },
		func() error { return on.rename(made, listed) },
		func() error { return on.sync(dir) },
		func() error { return moveAside(on, final) },
		func() error { return on.rename(dir, final) },
		func() error { return on.sync(filepath.Dir(final)) },
		// The enclosing folders may be new, too.
		func() error { return on.sync(trialDir) },
		func() error { return on.sync(filepath.Dir(trialDir)) },
	)
}

// moveAside removes a checkpoint of an earlier host that is not in the record. A folder that is not a
// checkpoint belongs to a program and gets another name (B-155).
func moveAside(on disk, final string) error {
	if _, err := nolink.Lstat(final); errors.Is(err, fs.ErrNotExist) || isCheckpoint(final) {
		return removeCheckpoint(on, final)
	}
	_, err := keepAside(on, final)
	return err
}

// keepAside gives a folder that is not a host's another name.
func keepAside(on disk, dir string) (kept string, err error) {
	for n := 1; ; n++ {
		kept = fmt.Sprintf("%s.kept%d", dir, n)
		switch _, err := nolink.Lstat(kept); {
		case errors.Is(err, fs.ErrNotExist):
			return kept, on.rename(dir, kept)
		case err != nil: // no free name could be found
			return "", err
		}
	}
}

// steps runs functions in order until one fails.
func steps(list ...func() error) error {
	for _, do := range list {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// sealer makes the files of a staging directory durable and read-only.
type sealer struct {
	disk
	blobs string
	dir   string
	root  *os.Root
	files []File
	// saving is nil if nobody looks at it.
	saving *Saving
}

// sync is sync of the disk, which may take long after much was written.
func (s *sealer) sync(path string) error {
	defer s.saving.Unseen()()
	return s.disk.sync(path)
}

func (s *sealer) seal() (files []File, err error) {
	top := filepath.Join(s.dir, contents)
	if s.root, err = nolink.OpenRoot(top); err != nil {
		return nil, err
	}
	defer s.root.Close()
	if s.saving != nil {
		s.saving.begins(sizeOf(top))
	}
	folders, err := eachFile(top, s.file)
	for _, f := range slices.Backward(folders) { // the innermost first
		if err == nil {
			err = s.sync(f)
		}
	}
	return sorted(s.files), err
}

// sizeOf returns the size of the files below a folder, as far as it can be found out.
func sizeOf(top string) (bytes int64) {
	_ = filepath.WalkDir(top, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes
}

func sorted(files []File) []File {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// eachFile calls a function with each file below a folder that may become a checkpoint, and returns the
// folders, the outer ones first.
func eachFile(top string, do func(path string) error) (folders []string, err error) {
	files := 0
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			folders = append(folders, path)
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("checkpoint: %s is %s; a checkpoint may hold only plain files and folders", path,
				nolink.KindOf(d.Type()))
		case !utf8.ValidString(strings.TrimPrefix(path, top)): // a manifest is JSON, which cannot hold the name
			return fmt.Errorf("checkpoint: the name %q is not UTF-8; rename the file", path)
		case files == maxFiles:
			return fmt.Errorf("checkpoint: more than %d files", maxFiles)
		}
		files++
		return do(path)
	})
	return folders, err
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
		// A process with the other name could still write to the file.
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

// read hashes a file in one pass.
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
	if err := bounded(rel, f, info.Size()); err != nil {
		return x, 0, err
	}
	sum := sha256.New()
	n, err := sparse.Read(io.MultiWriter(sum, s.saving), f)
	return File{Path: filepath.ToSlash(rel), Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, linksOf(info), err
}

// private replaces a file by a copy that has no other name.
func (s *sealer) private(path string) error {
	info, err := nolink.Lstat(path)
	if err != nil {
		return err
	}
	tmp := filepath.Join(s.dir, halfCopy)
	if err := errors.Join(s.remove(tmp), s.saving.copyFile(path, tmp, info)); err != nil {
		return err
	}
	return s.rename(tmp, path)
}

// mostHole is how many bytes of a file of a checkpoint may be in holes. They take no room, but they count for its hash:
// this many take minutes.
const mostHole = 64 << 30

// bounded refuses a file that takes too long to hash each time.
func bounded(name string, f *os.File, size int64) error {
	if size <= mostHole {
		return nil
	}
	hole, err := sparse.Hole(f)
	if err == nil && hole > mostHole {
		err = fmt.Errorf("checkpoint: the file %s has %d GiB, of which %d GiB are a hole without data, and at most "+
			"%d GiB may be: save a compact copy", untrusted.Line(name, maxName), size>>30, hole>>30, mostHole>>30)
	}
	return err
}

// maxName is how much of the name of a file an error says.
const maxName = 200

func hash(in *os.File) (string, error) {
	sum := sha256.New()
	_, err := sparse.Read(sum, in)
	return hex.EncodeToString(sum.Sum(nil)), err
}
