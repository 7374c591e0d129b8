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
	// SHA256 is that of the program or module; of a program that is looked up
	// on the PATH, an interpreter that is, that of the first file of the folder
	// among its arguments. Only where there is none either, it is that of the
	// program on the PATH.
	SHA256 string
	// Files are more files, by their path in the plugin's folder: plugin.yaml,
	// and those whose checksums it has.
	Files map[string]string
	// Tree are all files of the folder, where it is pinned as a whole ([Plugin.Tree]).
	Tree map[string]string
}

// Of is one checksum of all: it differs where one of them does.
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

// Pinned are the files of a folder with their checksums.
func (s Sums) Pinned() map[string]string {
	if s.Tree == nil {
		return s.Files
	}
	all := maps.Clone(s.Tree)
	maps.Copy(all, s.Files)
	return all
}

// Unchanged says whether the folder is still as it was when it was pinned.
func (p *Plugin) Unchanged(s Sums) error {
	if s.Tree == nil {
		return nil
	}
	now, err := p.Tree()
	if err != nil {
		return err
	}
	both := maps.Clone(now)
	maps.Copy(both, s.Tree)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if now[name] != s.Tree[name] {
			return fmt.Errorf("%s has %s since this host began, and it is not started again; a file that it writes itself belongs under unpinned in its %s",
				filepath.Join(p.Dir, name), changedHow(now[name], s.Tree[name]), config.ManifestFile)
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

// Code is the file that SHA256 is the checksum of.
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

// Check hashes the plugin and says how it differs from what its plugin.yaml
// promises.
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

// covered are the files of the folder that are hashed beside the code.
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
	return p.at("sha256", fmt.Errorf("%s is not the file that is meant: its SHA-256 is %s, here it is %s", file, got, want))
}

// Config is how to start a plugin whose files have the checksums; the caller adds
// its kind, environment and log. Of a module SHA256 is the checksum. It runs in its own folder, or in
// dir where it has none.
func (p *Plugin) Config(s Sums, dir string) process.Config {
	c := process.Config{Kind: p.Kind, Name: p.Name, Path: p.Program, Args: p.Args, Dir: dir, Files: map[string]string{},
		Inherit: append(slices.Clone(p.Env), p.Wants.Env...)}
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
