package upload

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// maxFiles is the largest number of files, folders and links of a tree.
const maxFiles = 100_000

// Tree is a part of a folder of the host.
type Tree struct {
	// Root is the folder, absolute.
	Root  string
	Files []File
}

// File is a file, a folder or a link of a tree.
type File struct {
	// Path is relative to the root, with slashes.
	Path string
	Dir  bool `json:",omitempty"`
	// Link is the target of a link, relative to its folder.
	Link string `json:",omitempty"`
	Size int64  `json:",omitempty"`
	// Written is when the content was last written, in nanoseconds since 1970.
	Written int64 `json:",omitempty"`
	Exec    bool  `json:",omitempty"`
	// SHA256 is of the content, in hex.
	SHA256 string `json:",omitempty"`
}

// Digest identifies the content of a tree, wherever it is. When a file was written does not count.
func (t *Tree) Digest() string {
	h := sha256.New()
	e := json.NewEncoder(h)
	for _, f := range t.Files {
		f.Written = 0
		_ = e.Encode(f) // a hash does not fail
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Size is the size of all files.
func (t *Tree) Size() (n int64) {
	for _, f := range t.Files {
		n += f.Size
	}
	return n
}

// check returns an error for an entry that cannot be in a tree.
func (f *File) check() error {
	sum, err := hex.DecodeString(f.SHA256)
	switch {
	case !fs.ValidPath(f.Path) || f.Path == "." || strings.ContainsRune(f.Path, 0) || f.Size < 0:
		return fmt.Errorf("%.100q cannot be a file of a tree", f.Path)
	case f.Dir && f.Link != "":
		return fmt.Errorf("%.100q cannot be a folder and a link", f.Path)
	case f.Link != "":
		return f.checkLink()
	case !f.Dir && (err != nil || len(sum) != sha256.Size || f.SHA256 != strings.ToLower(f.SHA256)):
		return fmt.Errorf("%.100q has no checksum", f.Path)
	}
	return nil
}

var errOutside = errors.New("it leads out of the folder")

// checkLink refuses links that lead out of the tree.
func (f *File) checkLink() error {
	if path.IsAbs(f.Link) || !filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(f.Path), f.Link))) {
		return fmt.Errorf("%.100q is a link to %.100q: %w", f.Path, f.Link, errOutside)
	}
	return nil
}
