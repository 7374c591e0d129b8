package storage

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/sparse"
)

// Restore copies a checkpoint to a directory that the reader may change; the checkpoint itself, which
// others may restore, does not change. The files are compared with the manifest; a [DamagedError] says
// that they are not what was saved.
func Restore(checkpoint, to string) error { return unwatched.Restore(checkpoint, to) }

// Restore is [Restore], which ends when s is given up.
func (s *Saving) Restore(checkpoint, to string) error {
	m, err := ReadManifest(checkpoint)
	if err != nil {
		return err
	}
	if m.Away(checkpoint) {
		return &AwayError{checkpoint}
	}
	if err := errors.Join(nolink.RemoveAll(to), nolink.MkdirAll(to, dirMode)); err != nil {
		return err
	}
	r := restorer{checkpoint: checkpoint, saving: s}
	if r.from, err = nolink.OpenRoot(filepath.Join(checkpoint, contents)); err != nil {
		return &DamagedError{checkpoint, reason(err).Error()}
	}
	defer r.from.Close()
	if r.to, err = nolink.OpenRoot(to); err != nil {
		return err
	}
	defer r.to.Close()
	for _, f := range m.Files {
		if err := r.file(f); err != nil {
			return err
		}
	}
	return r.folders()
}

type restorer struct {
	checkpoint string
	from, to   *os.Root
	saving     *Saving
}

func (r *restorer) file(f File) error {
	in, err := f.Open(r.from)
	if err != nil {
		return &DamagedError{r.checkpoint, err.Error()}
	}
	defer in.Close()
	path := filepath.FromSlash(f.Path)
	if err := r.to.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	out, err := r.to.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	sum, err := r.saving.copyHashed(out, in)
	if err := errors.Join(err, out.Close()); err != nil && !unreadable(err) {
		return err
	}
	if err := f.compare(sum, err); err != nil {
		return &DamagedError{r.checkpoint, err.Error()}
	}
	return nil
}

// unreadable reports whether the copy failed on the side of the source.
func unreadable(err error) bool {
	var p *fs.PathError
	return errors.As(err, &p) && p.Op == "read"
}

// copyHashed copies a file and returns the hash of the content.
func (s *Saving) copyHashed(out, in *os.File) (string, error) {
	sum := sha256.New()
	all := append(s.watchers(), sum)
	var err error
	if clone(out, in) {
		_, err = sparse.Read(io.MultiWriter(all...), out)
	} else {
		_, err = sparse.Copy(out, in, all...)
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// folders makes all folders, empty ones included.
func (r *restorer) folders() error {
	return eachFolder(r.from, ".", func(path string) error { return r.to.MkdirAll(path, dirMode) })
}

func eachFolder(root *os.Root, path string, do func(string) error) error {
	f, err := root.Open(path)
	if err != nil {
		return err
	}
	list, err := f.ReadDir(-1)
	f.Close()
	for _, d := range list {
		if err != nil {
			return err
		}
		if d.IsDir() {
			sub := filepath.Join(path, d.Name())
			err = errors.Join(do(sub), eachFolder(root, sub, do))
		}
	}
	return err
}
