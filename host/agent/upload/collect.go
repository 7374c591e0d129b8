package upload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Collect lists files and folders of a folder, by their names relative to it, with all that is in them. Files
// below skip, an absolute path, are left out; "": none are. Links have to stay in the folder, and lead to what
// is listed.
func Collect(root string, names []string, skip string) (Tree, error) {
	return collect(root, names, skip, (*File).read)
}

// Check returns the error of [Collect], without reading the files.
func Check(root string, names []string, skip string) error {
	_, err := collect(root, names, skip, (*File).open)
	return err
}

// Aside returns the folder that is left out when files of base are uploaded: the one with the results of all
// experiments if they have a folder of their own, else the one with the results of this experiment.
func Aside(base, results string) string {
	if all := filepath.Dir(results); all != base {
		return all
	}
	return results
}

func collect(root string, names []string, skip string, read func(*File, string) error) (Tree, error) {
	c := collector{root: root, skip: skip, read: read, seen: map[string]bool{}}
	for _, name := range names {
		if err := c.add(name); err != nil {
			return Tree{}, err
		}
	}
	slices.SortFunc(c.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return Tree{Root: root, Files: c.files}, c.checkLinks()
}

type collector struct {
	root, skip string
	read       func(f *File, at string) error // a plain file
	files      []File
	seen       map[string]bool
}

// add lists the files of a name.
func (c *collector) add(name string) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%s is not in %s", name, c.root)
	}
	if err := c.parents(name); err != nil {
		return err
	}
	at := filepath.Join(c.root, name)
	if _, err := os.Lstat(at); err != nil {
		return fmt.Errorf("%s: %w", name, reason(err))
	}
	return filepath.WalkDir(at, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if at == c.skip {
			return fs.SkipDir
		}
		return c.one(at, d)
	})
}

// reason returns an error without its path.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// parents lists the folders in which a name lies, none of which may be a link.
func (c *collector) parents(name string) error {
	for dir := filepath.Dir(filepath.Clean(name)); dir != "."; dir = filepath.Dir(dir) {
		info, err := os.Lstat(filepath.Join(c.root, dir))
		if err != nil {
			return fmt.Errorf("%s: %w", dir, reason(err))
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is %s; only folders can have files", dir, nolink.KindOf(info.Mode()))
		}
		c.put(File{Path: filepath.ToSlash(dir), Dir: true})
	}
	return nil
}

func (c *collector) put(f File) {
	if !c.seen[f.Path] {
		c.seen[f.Path] = true
		c.files = append(c.files, f)
	}
}

func (c *collector) one(at string, d fs.DirEntry) error {
	rel, err := filepath.Rel(c.root, at)
	if err != nil || rel == "." {
		return err
	}
	if len(c.files) >= maxFiles {
		return fmt.Errorf("there are more than %d files and folders", maxFiles)
	}
	f := File{Path: filepath.ToSlash(rel), Dir: d.IsDir()}
	switch {
	case d.IsDir():
	case d.Type()&fs.ModeSymlink != 0:
		if f.Link, err = os.Readlink(at); err == nil {
			f.Link = filepath.ToSlash(f.Link)
			err = f.checkLink()
		}
	case !d.Type().IsRegular():
		err = fmt.Errorf("%s is %s; only plain files, folders and links can be uploaded", rel, nolink.KindOf(d.Type()))
	default:
		err = c.read(&f, at)
	}
	if err == nil {
		c.put(f)
	}
	return err
}

// read reads a plain file and records its checksum.
func (f *File) read(at string) error {
	info, err := os.Lstat(at)
	if err != nil {
		return err
	}
	f.Size, f.Written, f.Exec = info.Size(), info.ModTime().UnixNano(), info.Mode()&0o111 != 0
	f.SHA256, err = process.HashUnchanged(at, info)
	return err
}

// open checks that a plain file can be read.
func (f *File) open(at string) error {
	in, err := os.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return in.Close()
}

// checkLinks refuses links to what is not listed.
func (c *collector) checkLinks() error {
	for _, f := range c.files {
		if to := path.Join(path.Dir(f.Path), f.Link); f.Link != "" && to != "." && !c.seen[to] {
			return fmt.Errorf("%s is a link to %s, which is not uploaded", f.Path, f.Link)
		}
	}
	return nil
}
