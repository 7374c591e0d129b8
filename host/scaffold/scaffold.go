// Package scaffold makes new plugins: folders that build, run and follow the protocol, for their
// authors to change. It is for `tunehost plugins new`.
//
// It writes the files below templates, which are compiled and tested in place. A language is a folder
// there, with a folder for each kind of plugin; common has what all kinds share, and wasm has folders
// with the differences of a plugin that is compiled to WebAssembly. In all of them [Placeholder]
// becomes the plugin's name, and the ending .tmpl, which hides a file from the Go command, is removed.
// The SDK's source goes to sdk, from package plugins.
package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/plugins"
	"github.com/tunehost/tunehost/plugins/sdk"
)

//go:embed templates
var templates embed.FS

// Placeholder stands for the plugin's name in the templates.
const Placeholder = "scaffold-name"

const (
	common = "common"
	wasm   = "wasm"
)

// Plugin is a plugin to make.
type Plugin struct {
	// Kind is one of [Kinds]; Language one of [Languages].
	Kind, Language string
	// WASM says that it is compiled to WebAssembly.
	WASM bool
	// Dir is where it goes; the folder must not exist, or be empty.
	Dir string
	// Name is the plugin's name; "": that of the folder.
	Name string
}

// Languages returns the languages in which plugins can be made.
func Languages() []string { return folders("templates") }

// Kinds returns the kinds of plugins that can be made in a language.
func Kinds(language string) []string {
	return slices.DeleteFunc(folders(path.Join("templates", language)),
		func(name string) bool { return name == common || name == wasm })
}

func folders(dir string) (names []string) {
	entries, _ := templates.ReadDir(dir) // none if there is no such folder
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// Make writes the plugin's folder, or says in one line why it cannot.
func (p Plugin) Make() error {
	layers, err := p.layers()
	if err != nil {
		return err
	}
	if p.Name, err = p.name(); err != nil {
		return err
	}
	if err := empty(p.Dir); err != nil {
		return err
	}
	for _, layer := range layers {
		if err := p.copy(layer); err != nil {
			return err
		}
	}
	source, ok := plugins.SDK(p.Language)
	if !ok {
		return fmt.Errorf("this tunehost has no SDK for %s", p.Language)
	}
	return source.Each(func(file string, content []byte) error { return p.write(path.Join("sdk", file), content) })
}

// known checks that there is a template. What is wrong with the kind is said first: it limits the languages.
func (p Plugin) known() error {
	var kinds, languages []string
	for _, language := range Languages() {
		kinds = append(kinds, Kinds(language)...)
		if slices.Contains(Kinds(language), p.Kind) {
			languages = append(languages, language)
		}
	}
	slices.Sort(kinds)
	switch {
	case !slices.Contains(kinds, p.Kind):
		return unknown("--kind", p.Kind, slices.Compact(kinds))
	case slices.Contains(languages, p.Language):
		return nil
	case slices.Contains(Languages(), p.Language):
		return fmt.Errorf("--kind %q: there is no template of it in %s, only in %s; `tunehost plugins docs` has what "+
			"a plugin in another language needs", p.Kind, p.Language, strings.Join(languages, ", "))
	}
	return unknown("--lang", p.Language, languages)
}

// layers returns the folders of templates; later ones replace files of earlier ones.
func (p Plugin) layers() ([]string, error) {
	if err := p.known(); err != nil {
		return nil, err
	}
	root := path.Join("templates", p.Language)
	layers := []string{path.Join(root, common), path.Join(root, p.Kind)}
	if !p.WASM {
		return layers, nil
	}
	if !slices.Contains(folders(path.Join(root, wasm)), p.Kind) {
		return nil, fmt.Errorf("--wasm: this tunehost has no template of a WebAssembly module in %s; omit --wasm "+
			"to make a program, or use --lang go", p.Language)
	}
	return append(layers, path.Join(root, wasm, p.Kind)), nil
}

func unknown(flag, got string, known []string) error {
	return fmt.Errorf("%s %q: expected %s%s", flag, got, strings.Join(known, ", "), nearest.Hint(got, known))
}

// name returns the given name, or the folder's.
func (p Plugin) name() (string, error) {
	if p.Name != "" {
		if !sdk.IsName(p.Name) {
			return "", fmt.Errorf("--name %q: expected lower case letters, digits and dashes", p.Name)
		}
		return p.Name, nil
	}
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return "", err
	}
	name := strings.NewReplacer("_", "-", " ", "-", ".", "-").Replace(strings.ToLower(filepath.Base(dir)))
	if !sdk.IsName(name) {
		return "", fmt.Errorf("%s: a plugin cannot be named after this folder: give it a --name of lower case "+
			"letters, digits and dashes", p.Dir)
	}
	return name, nil
}

// empty makes sure that nothing is overwritten.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: name a folder that does not exist yet", dir)
	}
	return nil
}

func (p Plugin) copy(layer string) error {
	err := fs.WalkDir(templates, layer, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := templates.ReadFile(file)
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(string(content), Placeholder, p.Name)
		return p.write(target(strings.TrimPrefix(file, layer+"/")), []byte(text))
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a language whose kinds share nothing
	}
	return err
}

// target returns the path of a template's file.
func target(file string) string {
	file = strings.TrimSuffix(file, ".tmpl")
	if dir, name := path.Split(file); name == "gitignore" {
		return dir + ".gitignore"
	}
	return file
}

// write makes a file that others cannot write to, as folders of plugins require.
func (p Plugin) write(file string, content []byte) error {
	to := filepath.Join(p.Dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
