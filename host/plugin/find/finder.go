// Package find finds plugins by the names and paths that users write: those in the tunehost binary
// (package bundled) and those in folders (package folder). It runs none of them. It is for the host
// and the command line.
package find

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/folder"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Found is a plugin.
type Found struct {
	// Kind is "" if only the running plugin knows it.
	Kind sdk.Kind
	Name string
	// Bundled describes a plugin of the binary; else Folder is its place.
	Bundled *sdk.Info
	Folder  *folder.Plugin
}

// Finder looks for plugins. It reads the folders once, when they are first needed.
type Finder struct {
	bundled *bundled.Registry
	dir     string
	scan    func() []folder.Found
}

// New looks among the bundled plugins and in the usual places around dir, the folder of the experiment
// file or the working directory; more are the folders that the experiment names, at pos.
func New(plugins *bundled.Registry, dir string, more []string, pos config.Pos) (*Finder, error) {
	places, err := folder.Places(dir, more, pos)
	if err != nil {
		return nil, err
	}
	return &Finder{bundled: plugins, dir: dir, scan: sync.OnceValue(func() []folder.Found {
		list := make([]folder.Found, len(places))
		for i, p := range places {
			list[i] = folder.Scan(p)
		}
		return list
	})}, nil
}

// IsPath reports whether a user means a path, not a name.
func IsPath(text string) bool { return config.PluginRef{Name: text}.IsPath() }

// Find returns the plugin that text means: a path, relative to the finder's folder, or a name. An
// empty kind stands for any.
func (f *Finder) Find(kind sdk.Kind, text string) (*Found, error) {
	if IsPath(text) {
		return f.at(kind, text)
	}
	info := f.known(kind, text)
	ours, problem := f.named(kind, text)
	switch {
	case problem != nil && info == nil:
		return nil, problem
	case len(ours) > 1:
		return nil, f.refuseAmbiguous(ours)
	case len(ours) == 1 && info != nil:
		return nil, refuseHidden(ours[0], info)
	case len(ours) == 1:
		return &Found{Kind: ours[0].Kind, Name: text, Folder: ours[0]}, nil
	case info != nil:
		return &Found{Kind: info.Kind, Name: text, Bundled: info}, nil
	}
	return nil, f.unknown(kind, text)
}

// Bundled returns a plugin of the binary, even if others have its name.
func (f *Finder) Bundled(kind sdk.Kind, name string) (*Found, error) {
	if info := f.known(kind, name); info != nil {
		return &Found{Kind: info.Kind, Name: name, Bundled: info}, nil
	}
	return nil, f.unknown(kind, name)
}

// at returns the plugin at a path.
func (f *Finder) at(kind sdk.Kind, path string) (*Found, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	p, err := folder.At(path)
	if err != nil {
		return nil, err
	}
	if !fits(p.Kind, kind) {
		return nil, otherKind(p, kind)
	}
	return &Found{Kind: p.Kind, Name: p.Name, Folder: p}, nil
}

func fits(is, wanted sdk.Kind) bool { return is == "" || wanted == "" || is == wanted }

func otherKind(p *folder.Plugin, wanted sdk.Kind) error {
	return fmt.Errorf("%s is %s, as its %s says, not %s", p.Path, p.Kind.WithArticle(), config.ManifestFile,
		wanted.WithArticle())
}

// known returns a bundled plugin.
func (f *Finder) known(kind sdk.Kind, name string) *sdk.Info {
	infos := f.bundled.Infos()
	i := slices.IndexFunc(infos, func(i sdk.Info) bool { return i.Name == name && fits(i.Kind, kind) })
	if i < 0 {
		return nil
	}
	return &infos[i]
}

// named returns the plugins in folders that have the name and may be of the kind. If there is none,
// the error says why a candidate is not one.
func (f *Finder) named(kind sdk.Kind, name string) (list []*folder.Plugin, why error) {
	for _, place := range f.scan() {
		for _, p := range place.Plugins {
			switch {
			case p.Name == name && fits(p.Kind, kind):
				list = append(list, p)
			case p.Name == name:
				why = cmp.Or(why, otherKind(p, kind))
			}
		}
		for _, p := range place.Problems {
			if p.Name == name {
				why = cmp.Or(why, p.Err)
			}
		}
	}
	if len(list) > 0 {
		why = nil
	}
	return list, why
}

// refuseAmbiguous refuses a name that means several plugins.
func (f *Finder) refuseAmbiguous(list []*folder.Plugin) error {
	return fmt.Errorf("%q may be %s or %s: rename one of them, or refer to it by its path", list[0].Name, list[0].Path,
		list[1].Path)
}

func refuseHidden(p *folder.Plugin, info *sdk.Info) error {
	return fmt.Errorf("%s has the name of the bundled %s %q: rename it, or refer to it by its path", p.Path, info.Kind,
		info.Name)
}

// unknown lists the known plugins and the places that were searched. A place that cannot be used may
// have the plugin.
func (f *Finder) unknown(kind sdk.Kind, name string) error {
	what := "plugin"
	if kind != "" {
		what = string(kind)
	}
	bundledNames, names := f.bundledNames(kind), []string{}
	var looked []string
	for _, place := range f.scan() {
		for _, p := range place.Problems {
			if p.Name == "" {
				return p.Err
			}
		}
		here := namesIn(place, kind)
		names = append(names, here...)
		looked = append(looked, place.Dir+content(place, here))
	}
	hint := nearest.Hint(name, append(names, bundledNames...))
	if ours := meant(kind, name); ours != "" {
		hint = fmt.Sprintf("; did you mean %q?", ours)
	}
	if other := f.known("", name); other != nil {
		hint = fmt.Sprintf("; %q is %s", name, other.Kind.WithArticle())
	}
	if _, err := os.Stat(filepath.Join(f.dir, name)); err == nil {
		hint = fmt.Sprintf("; for the file or folder %s here, write ./%[1]s", name)
	}
	if p := f.inFolderNamed(kind, name); p != nil {
		hint = fmt.Sprintf("; the plugin in %s is named %q, as its %s says", p.Path, p.Name, config.ManifestFile)
	}
	if guide := beside[name]; guide != "" {
		hint = fmt.Sprintf("; it is beside the program, not in it: %s of the sources (https://%s) says how to use it",
			guide, sources)
	}
	bundled := "none is bundled"
	if len(bundledNames) > 0 {
		bundled = "bundled are " + strings.Join(bundledNames, ", ")
	}
	return fmt.Errorf("there is no %s %q; %s; looked in %s%s", what, name, bundled, strings.Join(looked, ", "), hint)
}

// inFolderNamed returns a plugin of another name whose folder has the name.
func (f *Finder) inFolderNamed(kind sdk.Kind, name string) *folder.Plugin {
	for _, place := range f.scan() {
		for _, p := range place.Plugins {
			if filepath.Base(p.Path) == name && fits(p.Kind, kind) {
				return p
			}
		}
	}
	return nil
}

func (f *Finder) bundledNames(kind sdk.Kind) (names []string) {
	for _, info := range f.bundled.Infos() {
		if fits(info.Kind, kind) {
			names = append(names, info.Name)
		}
	}
	return names
}

func namesIn(place folder.Found, kind sdk.Kind) (names []string) {
	for _, p := range place.Plugins {
		if fits(p.Kind, kind) {
			names = append(names, p.Name)
		}
	}
	return names
}

// content says what is in a place, for messages.
func content(place folder.Found, names []string) string {
	switch {
	case place.Missing:
		return " (does not exist)"
	case len(names) == 0:
		return " (has none)"
	}
	return " (has " + strings.Join(names, ", ") + ")"
}

// All returns all plugins, the bundled ones first; problems are what is wrong with others, and names
// that mean several plugins.
func (f *Finder) All() (list []Found, problems []error) {
	for _, info := range f.bundled.Infos() {
		list = append(list, Found{Kind: info.Kind, Name: info.Name, Bundled: &info})
	}
	for _, place := range f.scan() {
		for _, p := range place.Plugins {
			list = append(list, Found{Kind: p.Kind, Name: p.Name, Folder: p})
			if info := f.known(p.Kind, p.Name); info != nil {
				problems = append(problems, refuseHidden(p, info))
			} else if same, _ := f.named(p.Kind, p.Name); len(same) > 1 && same[0] == p {
				problems = append(problems, f.refuseAmbiguous(same))
			}
		}
		for _, p := range place.Problems {
			if !p.Other {
				problems = append(problems, p.Err)
			}
		}
	}
	return list, problems
}

// Looked returns the places and what is in each.
func (f *Finder) Looked() []folder.Found { return f.scan() }

// Transport is bundled, process or wasm.
func (f *Found) Transport() string {
	if f.Bundled != nil {
		return "bundled"
	}
	return string(f.Folder.Transport)
}

// Path returns the place of the plugin; for a bundled one, this program.
func (f *Found) Path() (string, error) {
	if f.Bundled != nil {
		return os.Executable()
	}
	return f.Folder.Path, nil
}
