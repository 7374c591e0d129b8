package upload

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/storage/sparse"
	"github.com/tunehost/tunehost/internal/plainfile"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
	execMode = 0o700
)

// Read reads the list of a tree that a host sends.
func Read(r io.Reader, root string) (Tree, error) {
	t := Tree{Root: root}
	var buffer []byte
	for {
		f, err := message.Read(r, buffer)
		switch {
		case err != nil:
			return t, err
		case f.Kind == message.End:
			return t, nil
		case f.Kind != message.Item || len(t.Files) >= MaxFiles:
			return t, unexpected(f.Kind)
		}
		buffer = f.Content
		var file File
		if err = message.Decode(f.Content, &file); err == nil {
			err = file.check()
		}
		if err != nil {
			return t, err
		}
		t.Files = append(t.Files, file)
	}
}

// probed is the size up to which files are read to see whether they are those of the host. Larger files count
// as the same if they were written at the same nanosecond.
const probed = 1 << 20

// Here reports whether this machine has the same files under the same paths.
func (t *Tree) Here() bool {
	if !filepath.IsAbs(t.Root) {
		return false
	}
	for i := range t.Files {
		if !t.Files[i].here(t.Root) {
			return false
		}
	}
	return len(t.Files) > 0
}

func (f *File) here(root string) bool {
	at := filepath.Join(root, filepath.FromSlash(f.Path))
	info, err := os.Lstat(at)
	switch {
	case err != nil:
		return false
	case f.Dir:
		return info.IsDir()
	case f.Link != "":
		to, err := os.Readlink(at)
		return err == nil && filepath.ToSlash(to) == f.Link
	case !info.Mode().IsRegular() || info.Size() != f.Size || info.ModTime().UnixNano() != f.Written:
		return false
	case f.Size > probed:
		return true
	}
	sum, err := process.HashUnchanged(at, info)
	return err == nil && sum == f.SHA256
}

// Place puts a tree into a folder that exists and is empty. It requests contents that the cache
// does not have on the stream.
func Place(conn io.ReadWriter, t *Tree, folder string, c *Cache) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	p := &placer{root: root, cache: c, conn: conn}
	if err := p.folders(t); err != nil {
		return err
	}
	missing := p.files(t.Files)
	unlock := func() {}
	if len(missing) > 0 { // another agent of this node may be receiving the same
		unlock = c.lock()
		missing = p.files(missing)
	}
	defer unlock()
	if err := p.receive(missing); err != nil {
		return err
	}
	return p.links(t) // after all files, so that no file is written through a link
}

type placer struct {
	root  *os.Root
	cache *Cache
	conn  io.ReadWriter
}

func (p *placer) folders(t *Tree) error {
	for _, f := range t.Files {
		dir := filepath.FromSlash(f.Path)
		if !f.Dir {
			dir = filepath.Dir(dir)
		}
		if err := p.root.MkdirAll(dir, dirMode); err != nil {
			return err
		}
	}
	return nil
}

func (p *placer) links(t *Tree) error {
	for _, f := range t.Files {
		if f.Link == "" {
			continue
		}
		if err := p.root.Symlink(filepath.FromSlash(f.Link), filepath.FromSlash(f.Path)); err != nil {
			return err
		}
	}
	return nil
}

// files copies what the cache has, and returns the rest.
func (p *placer) files(list []File) (missing []File) {
	for _, f := range list {
		if f.SHA256 == "" {
			continue
		}
		if in, err := p.cache.open(f.SHA256); err == nil {
			err = p.write(&f, in)
			_ = in.Close()
			if err == nil {
				continue
			}
			if errors.Is(err, errContent) {
				p.cache.drop(f.SHA256)
			}
		}
		missing = append(missing, f)
	}
	return missing
}

var errContent = errors.New("its content does not have the checksum that was announced")

// write makes a file of a content, after comparing the checksum.
func (p *placer) write(f *File, content io.Reader) error {
	name, mode := filepath.FromSlash(f.Path), fs.FileMode(fileMode)
	if f.Exec {
		mode = execMode
	}
	out, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	h, holed := sha256.New(), sparse.NewWriter(out)
	_, err = io.Copy(io.MultiWriter(holed, h), content)
	err = errors.Join(err, holed.End(), out.Close())
	if f.Exec {
		awaitWriters(p.root, name)
	}
	if err == nil && hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
		err = fmt.Errorf("%s: %w", f.Path, errContent)
	}
	if err != nil {
		_ = p.root.Remove(name)
	}
	return err
}

// receive requests contents, and makes files of them.
func (p *placer) receive(missing []File) error {
	w := message.NewWriter(p.conn)
	of := map[string][]File{}
	var order []string
	for _, f := range missing {
		if of[f.SHA256] == nil {
			order = append(order, f.SHA256)
			if err := w.Put(message.Item, Blob{f.SHA256, f.Size}); err != nil {
				return err
			}
		}
		of[f.SHA256] = append(of[f.SHA256], f)
	}
	if err := w.Write(message.End, nil); err != nil {
		return err
	}
	for _, sum := range order {
		if err := p.blob(of[sum]); err != nil {
			return err
		}
	}
	return nil
}

// blob receives a content, and makes files of it.
func (p *placer) blob(files []File) error {
	var b Blob
	if err := message.Expect(p.conn, message.Item, &b); err != nil {
		return err
	}
	if b.SHA256 != files[0].SHA256 || b.Size != files[0].Size {
		return errors.New("the host sends another file than it was asked for")
	}
	first := &files[0]
	if err := p.write(first, &content{r: p.conn, left: b.Size}); err != nil {
		return err
	}
	for i := range files[1:] {
		if err := p.again(&files[i+1], first.Path); err != nil {
			return err
		}
	}
	return p.keep(first)
}

// again makes a second file of a content.
func (p *placer) again(f *File, first string) error {
	in, err := plainfile.In(p.root, filepath.FromSlash(first), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer in.Close()
	return p.write(f, in)
}

// keep puts a content into the cache. If there is no room for it, it is not kept.
func (p *placer) keep(f *File) error {
	in, err := plainfile.In(p.root, filepath.FromSlash(f.Path), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer in.Close()
	p.cache.put(f.SHA256, in)
	return nil
}

// content reads the frames of a content.
type content struct {
	r      io.Reader
	left   int64
	rest   []byte
	buffer []byte
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		if c.left == 0 {
			return 0, io.EOF
		}
		f, err := message.Read(c.r, c.buffer)
		switch {
		case err != nil:
			return 0, err
		case f.Kind == message.No:
			return 0, message.RefusalFrom(f.Content)
		case f.Kind != message.Data || len(f.Content) == 0 || int64(len(f.Content)) > c.left:
			return 0, unexpected(f.Kind)
		}
		c.buffer, c.rest = f.Content, f.Content
		c.left -= int64(len(f.Content))
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}
