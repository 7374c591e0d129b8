package storage

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// minShared is the smallest size of a file that several checkpoints share on disk. Smaller files are
// not worth a second name.
const minShared = 4 << 10

// Blobs is a directory with second names, by SHA-256, of the files of checkpoints. It serves to find a
// file that exists already; checkpoints can be read without it, so that it may be removed.
func (d Dir) Blobs() string { return filepath.Join(d.path, checkpoints, "blobs") }

func blobIn(blobs, sum string) string { return filepath.Join(blobs, sum[:2], sum) }

// share replaces a new file by the blob with the same content; it returns false if no such blob can be
// linked. It compares the contents, so that a damaged blob never replaces a good file.
func (s *sealer) share(blob, path string) bool {
	if same(blob, path) {
		return true // a retry after the disk was full
	}
	if !s.equal(blob, path) {
		return false
	}
	tmp := filepath.Join(s.dir, halfLink)
	err := s.remove(tmp)
	if err == nil {
		err = s.link(blob, tmp)
	}
	if err == nil {
		err = s.rename(tmp, path)
	}
	return err == nil
}

// offer gives a synced file the name by which later checkpoints find it. Errors do not matter: later
// checkpoints then keep files of their own.
func (s *sealer) offer(path, blob string) {
	if !countsLinks {
		return
	}
	if err := nolink.MkdirAll(filepath.Dir(blob), dirMode); err != nil {
		return
	}
	if _, err := nolink.Lstat(blob); err == nil { // damaged, or at the limit of links
		if s.remove(blob) != nil {
			return
		}
	}
	_ = s.link(path, blob)
}

func same(a, b string) bool {
	x, errX := nolink.Lstat(a)
	y, errY := nolink.Lstat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// equal compares two plain files.
func (s *sealer) equal(a, b string) bool {
	x, errX := nolink.Lstat(a)
	y, errY := nolink.Lstat(b)
	if errX != nil || errY != nil || !x.Mode().IsRegular() || !y.Mode().IsRegular() || x.Size() != y.Size() {
		return false
	}
	f, errX := nolink.Open(a)
	if errX != nil {
		return false
	}
	defer f.Close()
	g, errY := nolink.Open(b)
	if errY != nil {
		return false
	}
	defer g.Close()
	return equalStreams(f, s.saving.watched(g))
}

func equalStreams(f, g io.Reader) bool {
	const chunk = 1 << 20
	x, y := bufio.NewReaderSize(f, chunk), bufio.NewReaderSize(g, chunk)
	for {
		a, errA := x.Peek(chunk)
		b, errB := y.Peek(chunk)
		if !bytes.Equal(a, b) {
			return false
		}
		if errA != nil || errB != nil {
			return errors.Is(errA, io.EOF) && errors.Is(errB, io.EOF)
		}
		_, _ = x.Discard(len(a))
		_, _ = y.Discard(len(b))
	}
}

// dropBlobs removes the blobs that no checkpoint uses any more.
func dropBlobs(blobs string, files []File) {
	for _, f := range files {
		dropBlob(blobIn(blobs, f.SHA256))
	}
}

// dropBlob removes a blob without other names. A process that links it at the same time keeps its
// link.
func dropBlob(path string) {
	if info, err := nolink.Lstat(path); err == nil && linksOf(info) == 1 {
		_ = nolink.Remove(path)
	}
}

// isBlob reports whether the name of a file is that of a blob.
func isBlob(blobs, path string) bool {
	sum := filepath.Base(path)
	return sha256Pattern().MatchString(sum) && path == blobIn(blobs, sum)
}

// sweepBlobs removes all blobs that no checkpoint uses any more.
func sweepBlobs(blobs string) error {
	root, err := nolink.OpenDir(blobs)
	if err == nil {
		_ = root.Close()
		err = filepath.WalkDir(blobs, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && isBlob(blobs, path) {
				dropBlob(path)
			}
			return err
		})
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
