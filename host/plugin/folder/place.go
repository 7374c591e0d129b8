package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config"
)

// Place is a folder that is searched for plugins.
type Place struct {
	// Dir is absolute.
	Dir string
	// Pos is where the experiment names it; nil for the usual places, which need not exist.
	Pos *config.Pos
}

// Places are the folders that are searched for plugins: plugins in dir, which is the experiment file's
// folder or the working directory; more folders that the experiment names, relative to dir; and the
// user's own.
func Places(dir string, more []string, pos config.Pos) ([]Place, error) {
	base, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	list := []Place{{Dir: filepath.Join(base, "plugins")}}
	for _, m := range more {
		if !filepath.IsAbs(m) {
			m = filepath.Join(base, m)
		}
		list = append(list, Place{Dir: filepath.Clean(m), Pos: &pos})
	}
	if user, err := os.UserConfigDir(); err == nil {
		list = append(list, Place{Dir: filepath.Join(user, "tunehost", "plugins")})
	}
	return distinct(list), nil
}

// distinct keeps the first of places that are the same folder. A usual place that the experiment names
// must exist.
func distinct(list []Place) (out []Place) {
	seen := map[string]int{}
	for _, p := range list {
		if i, twice := seen[p.Dir]; twice {
			if out[i].Pos == nil {
				out[i].Pos = p.Pos
			}
			continue
		}
		seen[p.Dir] = len(out)
		out = append(out, p)
	}
	return out
}

// Problem says why something in a place, or a whole place, is not a plugin.
type Problem struct {
	// Name is the name that the plugin would have; "" for a place.
	Name string
	Err  error
	// Other says that it is probably not intended as a plugin, such as a README.
	Other bool
}

// Found is the content of one place.
type Found struct {
	Place
	// Missing says that the folder does not exist.
	Missing  bool
	Plugins  []*Plugin
	Problems []Problem
}

// Scan looks into a place, without running anything.
func Scan(place Place) Found {
	f := Found{Place: place}
	entries, err := f.open()
	if err != nil {
		f.Problems = []Problem{{Err: err}}
		return f
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, "~") {
			f.add(filepath.Join(place.Dir, name), e)
		}
	}
	return f
}

// open lists the folder, if it may be used.
func (f *Found) open() ([]fs.DirEntry, error) {
	info, err := os.Lstat(f.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.Pos == nil:
		f.Missing = true
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, f.named("%s: there is no such folder", f.Dir)
	case err != nil:
		return nil, f.named("%v", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, f.named("%s is a symbolic link: name its target in plugins", f.Dir)
	case !info.IsDir():
		return nil, f.named("%s is not a folder; "+
			"a plugin is named by its path in searcher, scheduler or trainable", f.Dir)
	}
	if err := safe(f.Dir, info); err != nil {
		return nil, f.named("%v", err)
	}
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, f.named("%v", err)
	}
	return entries, nil
}

// named returns an error at the place where the experiment names the folder.
func (f *Found) named(format string, args ...any) error {
	if f.Pos == nil {
		return fmt.Errorf(format, args...)
	}
	return &config.Error{Pos: *f.Pos, Msg: fmt.Sprintf(format, args...)}
}

func (f *Found) add(path string, e fs.DirEntry) {
	p, problem := look(path, e)
	if problem != nil {
		f.Problems = append(f.Problems, *problem)
		return
	}
	f.Plugins = append(f.Plugins, p)
}

func look(path string, e fs.DirEntry) (*Plugin, *Problem) {
	name := baseName(path)
	info, err := e.Info()
	switch {
	case err != nil:
		return nil, &Problem{Name: name, Err: err}
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, &Problem{Name: name, Err: fmt.Errorf("%s is a symbolic link: put the plugin itself there, or "+
			"refer to it by its path", path)}
	case info.IsDir():
		return lookFolder(path)
	}
	p, err := ofFile(path, info)
	if err == nil && p.Transport == Process && !mayRun(path) {
		err = fmt.Errorf("%s is executable, but no program; a script needs a first line such as #!/usr/bin/env python3",
			path)
	}
	if err != nil {
		return nil, &Problem{Name: name, Err: err, Other: filepath.Ext(path) != wasmEnding}
	}
	if err := safe(path, info); err != nil {
		return nil, &Problem{Name: name, Err: err}
	}
	return p, nil
}

// programs are the first bytes of the files that Linux and macOS execute by themselves.
var programs = []string{"#!", "\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"}

// mayRun reports whether a file begins like a program, or cannot be read. Other files in the folder may have the bit
// that makes them executable, such as data from a file system without such bits.
func mayRun(path string) bool {
	begin := make([]byte, 4)
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer func() { _ = f.Close() }()
	n, _ := io.ReadFull(f, begin)
	return slices.ContainsFunc(programs, func(s string) bool { return strings.HasPrefix(string(begin[:n]), s) })
}

func lookFolder(path string) (*Plugin, *Problem) {
	p, err := inFolder(path)
	if err == nil {
		return p, nil
	}
	name := filepath.Base(path)
	if p != nil {
		name = p.Name
	}
	_, missing := os.Stat(filepath.Join(path, config.ManifestFile))
	return nil, &Problem{Name: name, Err: err, Other: errors.Is(missing, fs.ErrNotExist)}
}
