package tree

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/sparse"
	"github.com/tunehost/tunehost/internal/plainfile"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Receive writes a tree into a folder that exists. said is called with the total size of the files
// announced so far; it may be nil. Files in the folder that are not in the tree stay.
func Receive(r io.Reader, folder string, said func(bytes int64)) (bytes int64, err error) {
	root, err := nolink.OpenRoot(folder)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	x := receiver{r: r, root: root}
	for entries := 0; ; entries++ {
		f, err := x.next()
		if err != nil {
			return x.bytes, err
		}
		switch {
		case f.Kind == message.End:
			return x.bytes, nil
		case f.Kind != message.Item:
			return x.bytes, unexpected(f.Kind)
		case entries == MaxEntries:
			return x.bytes, fmt.Errorf("there are more than %d files and folders", MaxEntries)
		}
		if err := x.entry(f.Content, said); err != nil {
			return x.bytes, err
		}
	}
}

func unexpected(k message.Kind) error {
	return fmt.Errorf("an unexpected message of kind %q", k)
}

type receiver struct {
	r      io.Reader
	root   *os.Root
	bytes  int64 // of all files so far
	buffer []byte
}

// next reads a frame; a refusal is an error.
func (x *receiver) next() (message.Frame, error) {
	f, err := message.Read(x.r, x.buffer)
	x.buffer = f.Content
	if err == nil && f.Kind == message.No {
		err = message.RefusalFrom(f.Content)
	}
	return f, err
}

func (x *receiver) entry(content []byte, said func(int64)) error {
	var e Entry
	if err := message.Decode(content, &e); err != nil {
		return err
	}
	if !fs.ValidPath(e.Path) || e.Path == "." || e.Size < 0 || e.From < 0 || e.From > e.Size {
		return fmt.Errorf("%.100q with %d bytes from %d cannot be a file of a tree", e.Path, e.Size, e.From)
	}
	name := filepath.FromSlash(e.Path)
	if e.Dir {
		return x.root.MkdirAll(name, dirMode)
	}
	if x.bytes += e.Size; said != nil {
		said(x.bytes)
	}
	if err := x.root.MkdirAll(filepath.FromSlash(path.Dir(e.Path)), dirMode); err != nil {
		return err
	}
	f, err := x.open(name, e.From)
	if err != nil {
		return err
	}
	return errors.Join(x.file(f, e), f.Close())
}

// open opens a file to write from an offset, and removes its content after the offset.
func (x *receiver) open(name string, from int64) (*os.File, error) {
	if from == 0 {
		if err := x.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return x.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	}
	f, err := plainfile.In(x.root, name, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(from); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// file writes a file and compares it with its checksum.
func (x *receiver) file(f *os.File, e Entry) error {
	sum := sha256.New()
	if _, err := io.CopyN(sum, f, e.From); err != nil {
		return err
	}
	out := sparse.NewWriter(f)
	if err := x.content(io.MultiWriter(out, sum), e); err != nil {
		return err
	}
	if err := out.End(); err != nil {
		return err
	}
	return x.compare(sum, e.Path)
}

func (x *receiver) content(w io.Writer, e Entry) error {
	for left := e.Size - e.From; left > 0; {
		f, err := x.next()
		switch {
		case err != nil:
			return err
		case f.Kind != message.Data:
			return unexpected(f.Kind)
		case int64(len(f.Content)) > left || len(f.Content) == 0:
			return fmt.Errorf("%s does not have the %d bytes that were announced", e.Path, e.Size)
		}
		left -= int64(len(f.Content))
		if _, err := w.Write(f.Content); err != nil {
			return err
		}
	}
	return nil
}

func (x *receiver) compare(sum hash.Hash, name string) error {
	f, err := x.next()
	if err != nil {
		return err
	}
	if f.Kind != message.Sum {
		return unexpected(f.Kind)
	}
	var want Sum
	if err := message.Decode(f.Content, &want); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 {
		return &ChangedError{name}
	}
	return nil
}

// ChangedError says that a file that was received is not the one that was sent.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return e.Path + " has changed on its way, or while it was copied"
}

// maxHave bounds the names in what [Sizes] returns, in bytes, so that it fits into a message.
const maxHave = message.MaxFrame / 8

// Sizes returns how much of each file is in a folder that was being received. If there are too many files, it leaves
// out small ones, which are then sent again.
func Sizes(folder string) (Have, error) {
	have, names := Have{}, 0
	err := filepath.WalkDir(folder, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, at)
		have[filepath.ToSlash(rel)] = info.Size()
		names += len(rel) + perName
		return err
	})
	for names > maxHave {
		names = have.shorten()
	}
	return have, err
}

// perName is what a name and a size take in a message beside the name, about.
const perName = 24

// shorten removes the smaller half of the files. It returns the length of what is left.
func (h Have) shorten() (names int) {
	list := slices.SortedFunc(maps.Keys(h), func(a, b string) int { return cmp.Compare(h[a], h[b]) })
	for i, name := range list {
		if i <= len(list)/2 {
			delete(h, name)
		} else {
			names += len(name) + perName
		}
	}
	return names
}
