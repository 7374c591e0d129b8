package tree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/internal/plainfile"
)

// maxEntries is the largest number of files and folders of a tree.
const maxEntries = 200_000

// Entry begins a file or a folder.
type Entry struct {
	// Path is relative to the tree, with slashes.
	Path string
	Dir  bool  `json:",omitempty"`
	Size int64 `json:",omitempty"`
	// From is how much of the file the receiver has already.
	From int64 `json:",omitempty"`
}

// Sum ends a file.
type Sum struct{ SHA256 string }

// Have has the number of bytes of each file, by path, that the receiver has from an earlier
// transfer.
type Have map[string]int64

// Send sends the content of a folder, and returns the checksums of the sent files, by path.
func Send(ctx context.Context, w *message.Writer, folder string, have Have) (sums map[string]string, err error) {
	root, err := nolink.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := sender{w: w, root: root, have: have, sums: map[string]string{}, buffer: make([]byte, message.Chunk)}
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || path == folder {
			return err
		}
		return s.entry(path, folder, d)
	})
	if err == nil {
		err = w.Write(message.End, nil)
	}
	return s.sums, err
}

type sender struct {
	w       *message.Writer
	root    *os.Root
	have    Have
	sums    map[string]string
	entries int
	buffer  []byte
}

func (s *sender) entry(path, folder string, d fs.DirEntry) error {
	rel, err := filepath.Rel(folder, path)
	if err != nil {
		return err
	}
	if s.entries++; s.entries > maxEntries {
		return fmt.Errorf("%s has more than %d files and folders", folder, maxEntries)
	}
	switch {
	case d.IsDir():
		return s.w.Put(message.Item, Entry{Path: filepath.ToSlash(rel), Dir: true})
	case !d.Type().IsRegular():
		return fmt.Errorf("%s is %s; only plain files and folders are copied to and from a node", path,
			nolink.KindOf(d.Type()))
	}
	return s.file(rel)
}

func (s *sender) file(rel string) error {
	f, err := plainfile.In(s.root, rel, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	e := Entry{Path: filepath.ToSlash(rel), Size: info.Size()}
	if e.From = s.have[e.Path]; e.From < 0 || e.From > e.Size {
		e.From = 0
	}
	if err := s.w.Put(message.Item, e); err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := io.CopyN(hash, f, e.From); err != nil {
		return err
	}
	if err := s.content(io.TeeReader(io.LimitReader(f, e.Size-e.From), hash), e); err != nil {
		return err
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	s.sums[e.Path] = sum
	return s.w.Put(message.Sum, Sum{sum})
}

func (s *sender) content(r io.Reader, e Entry) error {
	left := e.Size - e.From
	for left > 0 {
		n, err := r.Read(s.buffer)
		if n > 0 {
			left -= int64(n)
			if err := s.w.Write(message.Data, s.buffer[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF && left > 0 {
			return fmt.Errorf("%s became shorter while it was copied", e.Path)
		}
		if err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}
