//go:build unix

package nolink

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tunehost/tunehost/internal/plainfile"
)

// OpenFile is os.OpenFile for a plain file.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	const always = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	fd, err := look(path, flag&^os.O_TRUNC|always, uint32(perm.Perm()))
	if err != nil {
		return nil, explain("open", path, err)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		_ = unix.Close(fd)
		return nil, explain("open", path, err)
	}
	return plain(os.NewFile(uintptr(fd), path), flag)
}

// plain refuses what is not a plain file before anything is done to it.
func plain(f *os.File, flag int) (*os.File, error) {
	err := plainfile.Check(f, flag)
	if err == nil && flag&os.O_TRUNC != 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Open is os.Open for a plain file.
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// Create makes a new file in the place of an existing one, which keeps its content under its other
// names.
func Create(path string, perm fs.FileMode) (*os.File, error) {
	f, err := OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	if err := Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// Temporary makes a file with an unused name that is to replace a path.
func Temporary(path string, perm fs.FileMode) (*os.File, error) {
	return OpenFile(plainfile.Temporary(path), os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// Settle closes a temporary file and renames it to the path; after an error it removes it.
func Settle(tmp *os.File, path string, err error) error {
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = Remove(tmp.Name())
	}
	return err
}

// WriteFile makes a new file, as Create does, with the content.
func WriteFile(path string, content []byte, perm fs.FileMode) error {
	f, err := Create(path, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// ReadFile reads a file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, tooLarge(path, info.Size(), limit)
	}
	text := make([]byte, 0, info.Size()+1)
	return readAll(text, io.LimitReader(f, limit))
}

func readAll(text []byte, r io.Reader) ([]byte, error) {
	for {
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return text, err
		}
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
	}
}

// Lstat is os.Lstat.
func Lstat(path string) (fs.FileInfo, error) {
	at, base, err := parent(path)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	info, err := at.Lstat(base)
	if e, ok := errors.AsType[*fs.PathError](err); ok { // it has the base alone
		err = &fs.PathError{Op: "lstat", Path: path, Err: e.Err}
	}
	return info, err
}

// Sync makes a file's content or a folder's names durable.
func Sync(path string) error {
	fd, err := look(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return explain("sync", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	return errors.Join(f.Sync(), f.Close())
}
