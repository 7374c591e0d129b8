package runtimedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// MaxPath is the longest path that [Make] gives out, in bytes. It leaves room in a
// socket's path for the names that go-plugin and the command trainable append.
const MaxPath = 60

// Folder is a private, empty folder of this process.
type Folder struct {
	path string
	home *home
	once sync.Once
	err  error
}

// Make makes a folder for sockets and other small things. Its path is short.
func Make() (*Folder, error) { return homes.make("runtime", runtimePlaces) }

// MakeLarge makes a folder in the temporary directory, for things that may be large.
func MakeLarge() (*Folder, error) { return homes.make("large", temporaryPlaces) }

// MakeIn makes a folder in a directory that all users share, such as /dev/shm.
func MakeIn(shared string) (*Folder, error) {
	return homes.make("in "+shared, func() places { return places{[]string{of(shared)}, shared} })
}

// Path is absolute.
func (f *Folder) Path() string { return f.path }

// Home is the folder of this process in which f lies.
func (f *Folder) Home() string { return f.home.path }

// Root is the user's folder in which the homes of all processes lie.
func (f *Folder) Root() string { return filepath.Dir(f.home.path) }

// Alone is why the root is this process's alone, so that others do not look there: the
// user's folder could not be had. nil: it is the user's.
func (f *Folder) Alone() error { return f.home.alone }

// Others are the folders of this and other processes that live, in the same root. The
// error names those that cannot be looked at.
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

// in are the folders in a home whose process lives.
func (f *Folder) in(home string) (paths []string, err error) {
	if _, err := os.Lstat(filepath.Join(home, marker)); errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	if !lives(home) {
		return nil, nil
	}
	entries, err := os.ReadDir(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it has ended meanwhile
	}
	for _, e := range entries {
		if path := filepath.Join(home, e.Name()); e.IsDir() && path != f.path {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// Remove removes the folder with all that is in it, and with the last folder of this
// process its home.
func (f *Folder) Remove() error {
	f.once.Do(func() {
		f.err = os.RemoveAll(f.path)
		homes.release(f.home)
	})
	return f.err
}

// homes are those of this process.
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
	alone error // why the root was made for this process; nil: it is the user's
	used  int   // folders that are not removed yet
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

// home is the open one, unless somebody has removed it.
func (g *register) home(key string, where func() places) (*home, error) {
	if h := g.open[key]; h != nil && h.stands() {
		return h, nil
	}
	h, err := newHome(where())
	if err != nil {
		return nil, err
	}
	h.key, g.open[key] = key, h
	return h, nil
}

func (h *home) stands() bool {
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
	if h.stands() {
		_ = empty(h.path)
	}
	_ = h.lock.Close()
	if h.alone != nil {
		_ = os.Remove(filepath.Dir(h.path))
	}
}

// newHome makes a home in the first root that can be had, or in a fresh one. What dead
// processes have left there is removed.
func newHome(where places) (*home, error) {
	var errs []error
	for _, root := range where.roots {
		h, err := settle(root)
		if err == nil {
			return h, nil
		}
		errs = append(errs, err)
	}
	root, err := os.MkdirTemp(where.otherwise, "tunehost-")
	if err != nil {
		return nil, fmt.Errorf("no folder for tunehost's own files: %w; set TMPDIR to a directory of your own",
			errors.Join(append(errs, err)...))
	}
	h, err := makeHome(root)
	if err != nil {
		return nil, errors.Join(err, os.Remove(root))
	}
	h.alone = errors.Join(errs...)
	return h, nil
}

func settle(root string) (*home, error) {
	if err := prepare(root); err != nil {
		return nil, err
	}
	sweep(root)
	return makeHome(root)
}

// makeHome makes, locks and then marks a folder. Whoever cleans locks only what is
// marked, so that nothing can come in between.
func makeHome(root string) (*home, error) {
	path, err := freshDir(root)
	if err != nil {
		return nil, err
	}
	lock, err := hold(path)
	if err == nil {
		err = mark(path)
	}
	if err != nil {
		unmake(path)
		if lock != nil {
			_ = lock.Close()
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &home{path: path, lock: lock}, nil
}

// unmake removes a folder that has no more than a marker. It opens nothing: that there are
// no descriptors left may be why the folder is of no use.
func unmake(path string) {
	_ = os.Remove(filepath.Join(path, marker))
	_ = os.Remove(path)
}

// freshDir makes a folder with a short name that is taken by nobody.
func freshDir(root string) (string, error) {
	for try := 0; ; try++ {
		path := filepath.Join(root, "h"+random())
		err := os.Mkdir(path, 0o700)
		if err == nil || !errors.Is(err, os.ErrExist) || try == 100 {
			return path, err
		}
	}
}
