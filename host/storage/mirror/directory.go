package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/storage/sparse"
	"github.com/tunehost/tunehost/internal/plainfile"
)

// directory is a bucket in a shared directory: an object is a file, and its key is the file's path.
type directory string

// openDirectory makes the directory if it does not exist.
func openDirectory(path string) (directory, error) {
	return directory(path), os.MkdirAll(path, 0o700)
}

// at returns the path of an object. A key never leads out of the directory.
func (d directory) at(key string) (string, error) {
	if !fs.ValidPath(key) {
		return "", fmt.Errorf("%q cannot be the name of a file in %s", key, string(d))
	}
	return filepath.Join(string(d), filepath.FromSlash(key)), nil
}

func (d directory) open(_ context.Context, key string) (io.ReadCloser, error) {
	path, err := d.at(key)
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

func (d directory) write(ctx context.Context, key string, from io.Reader, isNew bool) error {
	path, err := d.at(key)
	if err != nil {
		return err
	}
	if err := d.makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	tmp, err := os.OpenFile(plainfile.Temporary(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // it has another name if all went well
	out := sparse.NewWriter(tmp)
	_, err = io.Copy(out, from)
	if err := cmp.Or(err, out.End(), tmp.Close(), ctx.Err()); err != nil {
		return err
	}
	return settle(tmp.Name(), path, isNew)
}

// makeFolder makes a folder for objects. It does not make the directory itself, which may be missing because its file
// system is not mounted.
func (d directory) makeFolder(folder string) error {
	_, err := os.Stat(folder)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case folder == string(d):
		return d.gone()
	}
	if err := d.makeFolder(filepath.Dir(folder)); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (d directory) gone() error {
	return fmt.Errorf("the folder %s is gone, or another one is in its place: was it moved, or is its file system no "+
		"longer mounted?", string(d))
}

// settle gives a whole file its name.
func settle(tmp, path string, isNew bool) error {
	if !isNew {
		return os.Rename(tmp, path)
	}
	err := os.Link(tmp, path) // unlike a rename, it replaces nothing
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	return os.Rename(tmp, path) // the file system has no links
}

func (d directory) changed(_ context.Context, key string) (time.Time, error) {
	path, err := d.at(key)
	if err != nil {
		return time.Time{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}, err
	}
	if info.IsDir() {
		return time.Time{}, fs.ErrNotExist
	}
	return info.ModTime(), nil
}

func (d directory) delete(_ context.Context, key string) error {
	path, err := d.at(key)
	if err != nil {
		return err
	}
	return os.Remove(path)
}

func (d directory) list(ctx context.Context, prefix string) (found []object, err error) {
	root := filepath.Join(string(d), filepath.FromSlash(prefix[:strings.LastIndex(prefix, "/")+1]))
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted in the meantime
		}
		if err := cmp.Or(err, ctx.Err()); err != nil || e.IsDir() {
			return err
		}
		key := filepath.ToSlash(strings.TrimPrefix(path, string(d)+string(filepath.Separator)))
		if !strings.HasPrefix(key, prefix) || plainfile.IsTemporary(e.Name()) {
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		found = append(found, object{key, info.Size(), info.ModTime()})
		return nil
	})
	slices.SortFunc(found, func(x, y object) int { return strings.Compare(x.key, y.key) })
	return found, err
}

// tidy removes what writers left that were killed before some time: later ones may still write. What cannot be read or
// removed stays: it is somebody else's, and nothing depends on it.
func (d directory) tidy(ctx context.Context, before time.Time) {
	_ = filepath.WalkDir(string(d), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !plainfile.IsTemporary(e.Name()) {
			return ctx.Err()
		}
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(path)
		}
		return ctx.Err()
	})
}

func (d directory) folders(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(string(d))
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (directory) close() error { return nil }
