package folder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/process"
)

// Limits of a plugin's folder, which is hashed as a whole.
const (
	maxTreeFiles = 10_000
	maxTreeBytes = 1 << 30
	maxTreeDepth = 64
)

// notCode are names of files and folders that are made from pinned files, or that hold no code:
// version control, caches and installed dependencies. Dependencies are pinned by the files that list
// them, such as requirements.txt and package-lock.json.
var notCode = map[string]bool{
	".git": true, ".hg": true, ".svn": true, ".bzr": true, "CVS": true, "_darcs": true, ".jj": true,
	"__pycache__": true, ".venv": true, "node_modules": true, ".tox": true, ".nox": true, ".eggs": true,
	"site-packages": true,
	".mypy_cache":   true, ".pytest_cache": true, ".ruff_cache": true, ".cache": true, ".npm": true,
	".parcel-cache":      true,
	".ipynb_checkpoints": true, ".gradle": true, ".idea": true, ".vscode": true, ".DS_Store": true, "Thumbs.db": true,
}

// notCodeEndings are the endings of more such names.
var notCodeEndings = []string{".dist-info", ".egg-info", ".pyc", ".pyo", ".swp", ".swo", "~", ".log"}

// tree hashes a folder: each file by its path in it.
type tree struct {
	root     string
	unpinned []string
	sums     map[string]string
	files    int // and folders
	bytes    int64
	above    []fs.FileInfo // the folders that lead here; they end a cycle of links
	omitted  []string      // what is left out, although it may be code
}

// Pin hashes the plugin as [Plugin.Check] does. If it is a program in a folder, it hashes each file there, too, and
// those outside that its command names, by their path. It omits folders that tools fill, and what plugin.yaml names as
// unpinned or asks to write to. A link counts as its target.
func (p *Plugin) Pin() (Sums, error) {
	s, err := p.Check()
	if err != nil {
		return s, err
	}
	t, err := p.tree()
	if t != nil {
		s.Tree, s.Omitted = t.sums, t.omitted
	}
	return s, err
}

// tree hashes the plugin's folder; nil if it is not pinned as a whole.
func (p *Plugin) tree() (*tree, error) {
	if p.manifest == nil || p.Transport != Process {
		return nil, nil
	}
	t := &tree{root: p.Dir, unpinned: p.manifest.Unpinned, sums: map[string]string{}}
	for _, dir := range p.Wants.Write {
		if rel, err := filepath.Rel(p.Dir, p.inDir(dir)); err == nil && filepath.IsLocal(rel) && rel != "." {
			t.unpinned = append(t.unpinned, filepath.ToSlash(rel))
		}
	}
	if err := cmp.Or(t.folder(""), t.outside(p)); err != nil {
		return nil, fmt.Errorf("%s cannot be pinned: %w", p.Dir, err)
	}
	return t, nil
}

func (p *Plugin) inDir(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.Dir, name)
}

// folder hashes the content of a folder of the tree; "" is its root.
func (t *tree) folder(rel string) error {
	dir := filepath.Join(t.root, rel)
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(t.above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
		return nil // a link to a folder that is already hashed
	}
	if len(t.above) == maxTreeDepth {
		return fmt.Errorf("%s lies more than %d folders deep", dir, maxTreeDepth)
	}
	if err := t.count(0); err != nil { // links could lead to the same folders repeatedly
		return err
	}
	if err := safe(dir, info); err != nil {
		return err
	}
	t.above = append(t.above, info)
	defer func() { t.above = t.above[:len(t.above)-1] }()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := t.entry(path.Join(rel, e.Name()), entries); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) entry(rel string, beside []fs.DirEntry) error {
	if t.isUnpinned(rel) {
		return nil
	}
	file, name := filepath.Join(t.root, rel), path.Base(rel)
	if isNotCode(name, beside) {
		if slices.Contains(packages, name) {
			t.omitted = append(t.omitted, rel)
		}
		return nil
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.sums[printable(rel)] = "a link that leads nowhere"
		return nil
	case err != nil:
		return err
	case info.IsDir() && hasFile(file, "pyvenv.cfg"):
		t.omitted = append(t.omitted, rel)
		return nil
	case info.IsDir():
		return t.folder(rel)
	case !info.Mode().IsRegular():
		return nil // a pipe or a socket cannot be executed
	}
	if err := safe(file, info); err != nil { // of a link, the target counts
		return err
	}
	return t.file(rel, file, info)
}

// file hashes one file, within the limits.
func (t *tree) file(rel, file string, info fs.FileInfo) error {
	err := t.count(info.Size())
	if err == nil {
		t.sums[printable(rel)], err = process.HashUnchanged(file, info)
	}
	return err
}

// count enforces the limits.
func (t *tree) count(bytes int64) error {
	t.files, t.bytes = t.files+1, t.bytes+bytes
	if t.files > maxTreeFiles || t.bytes > maxTreeBytes {
		return fmt.Errorf("it has more than %d files or %d MiB: put data elsewhere, or name it under unpinned in %s",
			maxTreeFiles, maxTreeBytes>>20, filepath.Join(t.root, config.ManifestFile))
	}
	return nil
}

// isNotCode reports whether the name of an entry excludes it. Cargo and Maven build into target,
// beside their own file.
func isNotCode(name string, beside []fs.DirEntry) bool {
	if name == "target" {
		return slices.ContainsFunc(beside, func(e fs.DirEntry) bool {
			return e.Name() == "Cargo.toml" ||
				e.Name() == "pom.xml"
		})
	}
	return notCode[name] || slices.ContainsFunc(notCodeEndings,
		func(end string) bool { return strings.HasSuffix(name, end) })
}

// isUnpinned reports whether a pattern matches the file or a folder above it.
func (t *tree) isUnpinned(rel string) bool {
	return slices.ContainsFunc(t.unpinned, func(pattern string) bool {
		for at := rel; at != "."; at = path.Dir(at) {
			if ok, err := path.Match(pattern, at); ok && err == nil {
				return true
			}
		}
		return false
	})
}

func hasFile(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// printable returns a path as the lock writes it: a name that is not valid text is quoted.
func printable(rel string) string {
	if utf8.ValidString(rel) {
		return rel
	}
	return strconv.Quote(rel)
}
