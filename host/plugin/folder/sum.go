package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/process"
)

// Sums are a plugin's checksums, in hex.
type Sums struct {
	// SHA256 is the checksum of the program or module. For a program from the PATH, such as an
	// interpreter, it is that of the first argument that is a file in the folder, or, if there is none,
	// that of the program on the PATH.
	SHA256 string
	// Files are more files, by their path in the plugin's folder: plugin.yaml, and those that it has
	// checksums for.
	Files map[string]string
	// Tree has all files of the folder, if it is pinned as a whole ([Plugin.Pin]), and those outside of it that the
	// command names. Omitted are folders and files that are not pinned, although the program may load code from them.
	Tree    map[string]string
	Omitted []string
}

// Of returns one checksum of all: it changes when any of them does.
func (s Sums) Of() string {
	h := sha256.New()
	fmt.Fprintln(h, s.SHA256)
	for _, files := range []map[string]string{s.Files, s.Tree} {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(h, "%q %s\n", name, files[name])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Pinned returns the files of a folder with their checksums.
func (s Sums) Pinned() map[string]string {
	if s.Tree == nil {
		return s.Files
	}
	all := maps.Clone(s.Tree)
	maps.Copy(all, s.Files)
	return all
}

// Unchanged checks that the folder is as it was when it was pinned.
func (p *Plugin) Unchanged(s Sums) error {
	if s.Tree == nil {
		return nil
	}
	t, err := p.tree()
	if err != nil {
		return err
	}
	now := t.sums
	both := maps.Clone(now)
	maps.Copy(both, s.Tree)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if now[name] != s.Tree[name] {
			return fmt.Errorf("%s has %s since this host began, so it is not started again; a file that it writes "+
				"itself belongs under unpinned in its %s",
				p.inDir(name), changedHow(now[name], s.Tree[name]), config.ManifestFile)
		}
	}
	return nil
}

func changedHow(now, then string) string {
	switch {
	case then == "":
		return "come"
	case now == "":
		return "gone"
	}
	return "changed"
}

// Code returns the file whose checksum is SHA256.
func (p *Plugin) Code() string {
	if p.Module != "" {
		return p.Module
	}
	if p.Dir == "" || p.within(p.Program) {
		return p.Program
	}
	for _, arg := range p.Args {
		file := filepath.Join(p.Dir, arg)
		if info, err := os.Stat(file); err == nil && filepath.IsLocal(arg) && info.Mode().IsRegular() {
			return file
		}
	}
	return p.Program
}

// Check hashes the plugin and compares it with the checksums in its plugin.yaml.
func (p *Plugin) Check() (s Sums, err error) {
	if s.SHA256, err = process.HashFile(p.Code()); err != nil || p.manifest == nil {
		return s, err
	}
	if want := p.manifest.SHA256[""]; want != "" && want != s.SHA256 {
		return s, p.differs(p.Code(), s.SHA256, want)
	}
	s.Files = map[string]string{}
	for _, name := range p.covered() {
		file := filepath.Join(p.Dir, name)
		if s.Files[name], err = process.HashFile(file); err != nil {
			return s, p.at("sha256", err)
		}
		if want := p.manifest.SHA256[name]; want != "" && want != s.Files[name] {
			return s, p.differs(file, s.Files[name], want)
		}
	}
	return s, nil
}

// covered returns the files of the folder that are hashed beside the code.
func (p *Plugin) covered() []string {
	names := []string{config.ManifestFile}
	for name := range p.manifest.SHA256 {
		if name != "" && name != config.ManifestFile {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (p *Plugin) differs(file, got, want string) error {
	return p.at("sha256", fmt.Errorf("%s is not the expected file: its SHA-256 is %s, and %s expects %s", file, got,
		config.ManifestFile, want))
}

// Config returns how to start a plugin whose files have the checksums; the caller adds its kind and
// environment. For a module SHA256 is its checksum. It runs in its own folder, or in dir if it has none.
func (p *Plugin) Config(s Sums, dir string) process.Program {
	c := process.Program{Kind: p.Kind, Name: p.Name, Path: p.Program, Args: p.Args, Dir: dir,
		Files: map[string]string{}, Inherit: append(slices.Clone(p.Env), p.Wants.Env...)}
	if p.Dir != "" {
		c.Dir = p.Dir
	}
	for name, sum := range s.Files {
		c.Files[filepath.Join(p.Dir, name)] = sum
	}
	if code := p.Code(); code == p.Program || code == p.Module {
		c.SHA256 = s.SHA256
	} else {
		c.Files[code] = s.SHA256
	}
	return c
}
