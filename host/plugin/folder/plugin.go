package folder

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage/ownership"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Transport is how a plugin is run.
type Transport string

// The transports.
const (
	Process Transport = "process"
	WASM    Transport = "wasm"
)

const wasmEnding = ".wasm"

// Plugin is a plugin that was found but not run.
type Plugin struct {
	// Kind is "" if only the running plugin knows it.
	Kind sdk.Kind
	Name string
	// Version and Summary are those in plugin.yaml.
	Version, Summary string
	Transport        Transport
	// Path is what a user names: the program, the module or the folder. All paths here are absolute.
	Path string
	// Program is executed with Args; Module is the file of a module.
	Program string
	Args    []string
	Module  string
	// Dir is the folder of a plugin.yaml, where the program runs; else "".
	Dir string
	// Env are the variables of the user's environment that it needs, and Wants its other grants.
	Env   []string
	Wants config.Grant

	manifest *config.Manifest
}

// At returns the plugin at a path that the user named.
func At(path string) (*Plugin, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// A link that the user names is followed; its target counts.
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: there is no such file or folder", abs)
		}
		return nil, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return inFolder(real)
	}
	if info.Mode().IsRegular() {
		if err := cmp.Or(safe(real, info), ownership.CheckFolder(real)); err != nil {
			return nil, err
		}
	}
	p, err := ofFile(real, info)
	if err == nil {
		p.Name = baseName(abs)
	}
	return p, err
}

// baseName returns the name that a file gives.
func baseName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// ofFile returns a plugin that is one file.
func ofFile(path string, info fs.FileInfo) (*Plugin, error) {
	p := &Plugin{Name: baseName(path), Path: path, Transport: Process, Program: path}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a plugin: expected a program, a %s module or a folder with a %s",
			path, wasmEnding, config.ManifestFile)
	case filepath.Ext(path) == wasmEnding:
		p.Transport, p.Program, p.Module = WASM, "", path
		return p, isModule(path)
	case info.Mode()&0o111 == 0:
		return nil, notExecutable(path)
	}
	return p, nil
}

func notExecutable(path string) error {
	return fmt.Errorf("%s is not executable: if it is a plugin, run chmod +x %s; a plugin is a program, a %s module "+
		"or a folder with a %s", path, untrusted.Word(path), wasmEnding, config.ManifestFile)
}

// isModule looks at a module's first bytes.
func isModule(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	begin := make([]byte, 4)
	if n, err := f.Read(begin); err != nil || n < len(begin) || !bytes.Equal(begin, []byte("\x00asm")) {
		return fmt.Errorf("%s is not a plugin: it does not begin like a WebAssembly module", path)
	}
	return nil
}

// inFolder returns the plugin of a folder with a plugin.yaml.
func inFolder(dir string) (*Plugin, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, config.ManifestFile)
	err = safeFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a plugin: it has no %s, which says how to start it", dir, config.ManifestFile)
	}
	if err := cmp.Or(safe(dir, info), err); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m, err := config.ParseManifest(file, data)
	if err != nil {
		return nil, err
	}
	p := &Plugin{Kind: sdk.Kind(m.Kind), Name: m.Name, Version: m.Version, Summary: m.Summary, Transport: Process,
		Path: dir, Dir: dir,
		Env: m.Env, Wants: m.Wants, manifest: m}
	if m.Module != "" {
		p.Transport, p.Module = WASM, filepath.Join(dir, m.Module)
		if !exists(p.Module) {
			return p, p.at("module", fmt.Errorf("%s does not exist; %s", p.Module, toMake(dir, m.Module)))
		}
		return p, p.at("module", cmp.Or(safeFile(p.Module), isModule(p.Module)))
	}
	p.Args = m.Command[1:]
	if p.Program, err = programOf(dir, m.Command[0]); err == nil {
		err = p.installed()
	}
	return p, p.at("command", err)
}

// at gives an error its place in the plugin.yaml.
func (p *Plugin) at(key string, err error) error {
	if err == nil {
		return nil
	}
	return &config.Error{Pos: p.manifest.PosOf(key), Msg: err.Error()}
}

// programOf finds a program in the folder, else on the PATH.
func programOf(dir, name string) (string, error) {
	if filepath.IsAbs(name) {
		found, err := exec.LookPath(name)
		return found, unusable(name, err)
	}
	local := filepath.Join(dir, name)
	info, err := os.Stat(local)
	switch {
	case err == nil && info.Mode().IsRegular() && info.Mode()&0o111 == 0:
		return "", notExecutable(local)
	case err == nil && info.Mode().IsRegular():
		return local, safeFile(local)
	case errors.Is(err, fs.ErrPermission):
		return "", unusable(local, err)
	case strings.Contains(name, "/"):
		return "", fmt.Errorf("%s does not exist; %s", local, toMake(dir, name))
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("the program %q is neither in %s nor on the PATH; %s", name, dir, toMake(dir, name))
	}
	return filepath.Abs(found)
}

// unusable says why a program cannot be run whose place is known. To make it would not help.
func unusable(program string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied: you may not run it, or not look into a folder on the way to it",
			program)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", program)
	}
	return fmt.Errorf("%s is not a program: %w", program, err)
}

// toMake says how the user gets the program of a plugin that is not there: a virtual environment of Python is not
// built, and README.md may say more. Its requirements may name folders beside it: pip runs in the plugin's folder.
func toMake(dir, name string) string {
	environment, venv := strings.CutSuffix(filepath.Dir(name), string(filepath.Separator)+"bin")
	what := "if it has to be built first, build it"
	if venv && strings.HasPrefix(filepath.Base(name), "python") {
		what = "make the virtual environment: cd " + untrusted.Word(dir) + " && python3 -m venv " +
			untrusted.Word(environment)
		if exists(filepath.Join(dir, "requirements.txt")) {
			what += " && " + untrusted.Word(filepath.Join(environment, "bin", "pip")) + " install -r requirements.txt"
		}
	}
	if readme := filepath.Join(dir, "README.md"); exists(readme) {
		what += "; " + readme + " says more"
	}
	return what
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// within reports whether a file is in the plugin's own folder.
func (p *Plugin) within(file string) bool {
	rel, err := filepath.Rel(p.Dir, file)
	return p.Dir != "" && err == nil && filepath.IsLocal(rel)
}
