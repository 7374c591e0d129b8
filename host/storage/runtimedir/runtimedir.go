package runtimedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// MaxPath is the longest path that [Make] returns, in bytes. It leaves room for the names that
// go-plugin and the command trainable append to a socket's path.
const MaxPath = 60

// Folder is a private, empty folder of this process.
type Folder struct {
	path string
	home *home
	once sync.Once
	err  error
}

// Make makes a folder for sockets and other small files. Its path is short.
func Make() (*Folder, error) { return homes.make("runtime", runtimePlaces) }

// MakeLarge makes a folder in the temporary directory, for large files.
func MakeLarge() (*Folder, error) { return homes.make("large", temporaryPlaces) }

// MakeIn makes a folder in a directory that all users share, such as /dev/shm.
func MakeIn(shared string) (*Folder, error) {
	return homes.make("in "+shared, func() places { return places{[]string{of(shared)}, shared} })
}

// Path returns the absolute path.
func (f *Folder) Path() string { return f.path }

// Home returns the folder of this process that contains f.
func (f *Folder) Home() string { return f.home.path }

// Root returns the user's folder, which contains the homes of all processes.
func (f *Folder) Root() string { return filepath.Dir(f.home.path) }

// Alone returns the reason why the root belongs to this process only, so that others do not look
// there: the user's folder was not usable. nil: the root is the user's.
func (f *Folder) Alone() error { return f.home.alone }

// Others returns the folders of this and other living processes in the same root. The error names
// those that cannot be read.
func (f *Folder) Others() (paths []string, err error) {
	homes, err := os.ReadDir(f.Root())
	for _, h := range homes {
		if !h.IsDir() {
			continue
		}
		found, errH := f.in(filepath.Join(f.Root(), h.Name()))
		paths, err = append(paths, found...), errors.Join(err, errH)
	}
	return paths, err
}

// in returns the folders in a home if its process is alive.
func (f *Folder) in(home string) (paths []string, err error) {
	if _, err := os.Lstat(filepath.Join(home, marker)); errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	if !isAlive(home) {
		return nil, nil
	}
	entries, err := os.ReadDir(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it has ended in the meantime
	}
	for _, e := range entries {
		if path := filepath.Join(home, e.Name()); e.IsDir() && path != f.path {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// Remove removes the folder with its content, and with the last folder of this process its home.
func (f *Folder) Remove() error {
	f.once.Do(func() {
		f.err = nolink.RemoveTree(f.path)
		homes.release(f.home)
	})
	return f.err
}

// homes are the homes of this process.
var homes = register{open: map[string]*home{}}

type register struct {
	mu   sync.Mutex
	open map[string]*home
}

// home is this process's folder in one of the roots.
type home struct {
	key   string
	path  string
	lock  *os.File
	alone error // why the root is this process's own; nil: it is the user's
	used  int   // folders not yet removed
	made  int
}

func (g *register) make(key string, where func() places) (*Folder, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, err := g.home(key, where)
	if err != nil {
		return nil, err
	}
	h.made++
	path := filepath.Join(h.path, strconv.Itoa(h.made))
	h.used++
	if err := os.Mkdir(path, 0o700); err != nil {
		g.done(h)
		return nil, err
	}
	return &Folder{path: path, home: h}, nil
}

// home returns the open home, or a new one if that was removed.
func (g *register) home(key string, where func() places) (*home, error) {
	if h := g.open[key]; h != nil && h.exists() {
		return h, nil
	}
	h, err := newHome(where())
	if err != nil {
		return nil, err
	}
	h.key, g.open[key] = key, h
	return h, nil
}

func (h *home) exists() bool {
	is, err := os.Lstat(h.path)
	was, err2 := h.lock.Stat()
	return err == nil && err2 == nil && os.SameFile(is, was)
}

func (g *register) release(h *home) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done(h)
}

// done removes the home with its last folder. It needs g.mu.
func (g *register) done(h *home) {
	if h.used--; h.used > 0 {
		return
	}
	if g.open[h.key] == h {
		delete(g.open, h.key)
	}
	if h.exists() {
		_ = empty(h.path)
	}
	_ = h.lock.Close()
	if h.alone != nil {
		_ = os.Remove(filepath.Dir(h.path))
	}
}

// newHome makes a home in the first usable root, or in a fresh one. It removes what dead processes
// left there.
func newHome(where places) (*home, error) {
	var errs []error
	for _, root := range where.roots {
		h, err := settle(root)
		if err == nil {
			return h, nil
		}
		errs = append(errs, at(root, err))
	}
	h, err := settleApart(where.otherwise)
	if err != nil {
		return nil, &NoFolderError{append(errs, at(where.otherwise, err))}
	}
	h.alone = errors.Join(errs...)
	return h, nil
}

// settleApart makes a home in a fresh folder.
func settleApart(where string) (*home, error) {
	root, err := os.MkdirTemp(where, "tunehost-")
	if err != nil {
		return nil, err
	}
	h, err := makeHome(root)
	if err != nil {
		_ = os.Remove(root)
	}
	return h, err
}

// NoFolderError says that there can be no folder. Its text is the same each time: it has no random names.
type NoFolderError struct{ errs []error }

// Error implements error.
func (e *NoFolderError) Error() string { return e.Why() + "; set TMPDIR to a directory of your own" }

// Why is the error without what to do.
func (e *NoFolderError) Why() string {
	text := make([]string, len(e.errs))
	for i, err := range e.errs {
		text[i] = err.Error()
	}
	return "no folder for tunehost's own files: " + strings.Join(text, "; ")
}

// Unwrap returns the reasons.
func (e *NoFolderError) Unwrap() []error { return e.errs }

// at says where something has failed, without the random name of a folder there.
func at(where string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	if text := err.Error(); strings.HasPrefix(text, where) {
		return err // it says where itself
	}
	return fmt.Errorf("%s: %w", where, err)
}

func settle(root string) (*home, error) {
	if err := prepare(root); err != nil {
		return nil, err
	}
	sweep(root)
	return makeHome(root)
}

// makeHome makes a home, and another one if a cleaner took the first for an old one.
func makeHome(root string) (h *home, err error) {
	for range 3 {
		h, err = tryHome(root)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
	}
	return h, err
}

// tryHome makes a folder, locks it and then marks it. Cleaners lock only folders that are marked, or old.
func tryHome(root string) (*home, error) {
	path, err := freshDir(root)
	if err != nil {
		return nil, err
	}
	lock, err := hold(path)
	if err == nil {
		err = mark(path)
	}
	if err != nil {
		removeEmpty(path)
		if lock != nil {
			_ = lock.Close()
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &home{path: path, lock: lock}, nil
}

// removeEmpty removes a folder that holds at most a marker. It opens nothing, since the folder may have
// failed for lack of descriptors.
func removeEmpty(path string) {
	_ = os.Remove(filepath.Join(path, marker))
	_ = os.Remove(path)
}

// freshDir makes a folder with a short unused name.
func freshDir(root string) (string, error) {
	for try := 0; ; try++ {
		path := filepath.Join(root, "h"+random())
		err := os.Mkdir(path, 0o700)
		if err == nil || !errors.Is(err, os.ErrExist) || try == 100 {
			return path, err
		}
	}
}
