package upload

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/storage/runtimedir"
	"github.com/tunehost/tunehost/host/storage/sparse"
	"github.com/tunehost/tunehost/internal/plainfile"
)

const (
	// maxCache bounds the size of the contents that are kept, in bytes.
	maxCache = 20 << 30
	// keptFor is how long a content is kept that nobody uses.
	keptFor = 7 * 24 * time.Hour
	// unfinished is the age at which an incomplete file counts as abandoned.
	unfinished = time.Hour
	partSuffix = ".part"
	lockFile   = "lock"
)

// Cache keeps contents on a node, by their checksums. All agents of a user share it. Without a folder it keeps
// nothing.
type Cache struct {
	root *os.Root // nil: none
}

// OpenCache opens the cache of the user in a folder that all users share, such as the temporary directory. If another
// user has taken its name, or others could write to it, the cache is in a folder with a random name, which the user's
// other agents find by its owner. If there is an error, the cache keeps nothing.
func OpenCache(shared string) (*Cache, error) {
	name := filepath.Join(shared, "tunehost-files-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(name, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return &Cache{}, err
	}
	if root, err := openPrivate(name); err == nil {
		return &Cache{root}, nil
	}
	if root := openRandom(name); root != nil {
		return &Cache{root}, nil
	}
	if _, err := os.MkdirTemp(shared, filepath.Base(name)+"-*"); err != nil {
		return &Cache{}, err
	}
	if root := openRandom(name); root != nil { // of agents that begin together, all take the same
		return &Cache{root}, nil
	}
	return &Cache{}, fmt.Errorf("%s is not this user's alone, and no other folder could be made", name)
}

// openRandom opens the first folder of this user with a random name; nil: there is none.
func openRandom(name string) *os.Root {
	names, _ := filepath.Glob(name + "-*") // in the order of the names; the pattern is valid
	for _, n := range names {
		if root, err := openPrivate(n); err == nil {
			return root
		}
	}
	return nil
}

// openPrivate opens a folder that only this user can access. What was opened is looked at again: the name may have
// become that of another folder.
func openPrivate(dir string) (*os.Root, error) {
	if err := runtimedir.Private(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil {
		err = runtimedir.PrivateFolder(dir, info)
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

// Close closes the cache. Its contents stay.
func (c *Cache) Close() {
	if c.root != nil {
		_ = c.root.Close()
	}
}

// open opens a content, and records that it was used.
func (c *Cache) open(sum string) (*os.File, error) {
	if c.root == nil {
		return nil, fs.ErrNotExist
	}
	f, err := plainfile.In(c.root, sum, os.O_RDONLY)
	if err == nil {
		now := time.Now()
		_ = c.root.Chtimes(sum, now, now)
	}
	return f, err
}

// drop removes a content that somebody has changed.
func (c *Cache) drop(sum string) { _ = c.root.Remove(sum) }

// put keeps a content. The caller does not need to know whether it was kept.
func (c *Cache) put(sum string, content io.Reader) {
	if c.root == nil {
		return
	}
	part := sum + "-" + rand.Text() + partSuffix
	out, err := c.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return
	}
	holed := sparse.NewWriter(out)
	_, err = io.Copy(holed, content)
	if err = errors.Join(err, holed.End(), out.Close()); err == nil {
		err = c.root.Rename(part, sum)
	}
	if err != nil {
		_ = c.root.Remove(part)
	}
}

// These limit how long an agent waits for another one that receives files.
const (
	lockWithin = 10 * time.Minute
	lockEvery  = 100 * time.Millisecond
)

// lock makes the agents of a node receive files one after another, so that each file is sent once. If one takes
// too long, the others stop waiting for it, and a file may be sent twice.
func (c *Cache) lock() (unlock func()) {
	if c.root == nil {
		return func() {}
	}
	f, err := plainfile.In(c.root, lockFile, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(lockWithin); time.Now().Before(end); time.Sleep(lockEvery) {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
	}
	return func() { _ = f.Close() }
}

// Clean removes contents that were not used for long, incomplete ones, and the oldest ones if all together are
// too large.
func (c *Cache) Clean(now time.Time) {
	if c.root == nil {
		return
	}
	list := c.contents(now)
	slices.SortFunc(list, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	total := int64(0)
	for _, info := range list {
		if total += info.Size(); total > maxCache || now.Sub(info.ModTime()) > keptFor {
			_ = c.root.Remove(info.Name())
		}
	}
}

// contents lists the contents of the cache, and removes incomplete files.
func (c *Cache) contents(now time.Time) (list []fs.FileInfo) {
	entries, _ := fs.ReadDir(c.root.FS(), ".")
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || e.Name() == lockFile || !info.Mode().IsRegular():
		case !strings.HasSuffix(e.Name(), partSuffix):
			list = append(list, info)
		case now.Sub(info.ModTime()) > unfinished:
			_ = c.root.Remove(e.Name())
		}
	}
	return list
}
