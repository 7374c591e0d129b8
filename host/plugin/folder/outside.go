package folder

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// packages are the folders of [notCode] whose content a program may load, unlike version control and caches.
var packages = []string{".venv", "node_modules", "site-packages", ".eggs", ".tox", ".nox"}

// outside hashes what the command names outside of the folder: its program, unless it is one from the PATH, and the
// files among its arguments. Their names are those in the command.
func (t *tree) outside(p *Plugin) error {
	for i, arg := range p.manifest.Command {
		if i == 0 && !strings.Contains(arg, "/") {
			continue
		}
		name, file := path.Clean(arg), p.inDir(arg)
		info, err := os.Stat(file)
		if err != nil || p.within(file) || slices.Contains(t.unpinned, name) {
			continue
		}
		if !info.Mode().IsRegular() || info.Size() > maxTreeBytes {
			t.omitted = append(t.omitted, name)
			continue
		}
		if err := t.file(name, file, info); err != nil {
			return err
		}
	}
	return nil
}

// Beyond reports whether the tree has files outside of the plugin's folder.
func (s Sums) Beyond() bool {
	for name := range s.Tree {
		if !filepath.IsLocal(name) {
			return true
		}
	}
	return false
}

// Uncovered says in words what the plugin may run that its checksums do not cover; "" if nothing is known.
func (p *Plugin) Uncovered(s Sums) string {
	switch {
	case p.Dir == "" && p.Transport == Process && isScriptFile(p.Program):
		return "what " + filepath.Base(p.Program) + " loads from other files, unlike a folder with a plugin.yaml"
	case len(s.Omitted) > 0:
		return "what is in " + strings.Join(s.Omitted, ", ")
	}
	return ""
}

// isScriptFile reports whether an interpreter executes the file, which may load others beside it.
func isScriptFile(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	begin := make([]byte, 2)
	n, _ := f.Read(begin)
	return string(begin[:n]) == "#!"
}
