package folder

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/process"
)

const (
	script = "#!/bin/sh\ntouch \"$(dirname \"$0\")/it-ran\"\n"
	module = "\x00asm\x01\x00\x00\x00"
)

// put writes files; a content that begins with #! makes a program.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(content, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(file, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil { // for any umask
			t.Fatal(err)
		}
	}
}

func place(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, files)
	return dir
}

func TestScan(t *testing.T) {
	dir := place(t, map[string]string{
		"quick":           script,
		"slow.py":         script,
		"boxed.wasm":      module,
		"own/plugin.yaml": "{kind: scheduler, name: renamed, command: [run], version: 3, summary: Sums.}",
		"own/run":         script,
		"box/plugin.yaml": "{kind: searcher, name: box, module: m.wasm}",
		"box/m.wasm":      module,
		".hidden":         script,
		"backup~":         script,
		"README.md":       "# no plugin",
		"data/x.csv":      "1",
		"random.bin":      "\x00\x01 data with the mode of a program",
		"bad.wasm":        "text",
		"odd/plugin.yaml": "{kind: searcher, name: odd, command: [odd], sumary: x}",
	})
	f := Scan(Place{Dir: dir})
	var got []string
	for _, p := range f.Plugins {
		got = append(got, strings.Join([]string{p.Name, string(p.Kind), string(p.Transport), p.Version,
			strings.TrimPrefix(p.Path, dir)}, " "))
	}
	want := []string{"box searcher wasm  /box", "boxed  wasm  /boxed.wasm", "renamed scheduler process 3 /own",
		"quick  process  /quick", "slow  process  /slow.py"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	var others, bad []string
	for _, p := range f.Problems {
		if p.Other {
			others = append(others, p.Name)
		} else {
			bad = append(bad, p.Name)
		}
	}
	if !slices.Equal(others, []string{"README", "data", "random"}) || !slices.Equal(bad, []string{"bad", "odd"}) {
		t.Errorf("others %q, bad %q", others, bad)
	}
	if _, err := os.Stat(filepath.Join(dir, "it-ran")); err == nil {
		t.Error("a program was run")
	}
}

// Each of these is refused with one line.
func TestRefusals(t *testing.T) {
	root := place(t, map[string]string{
		"program":            script,
		"notes.txt":          "x",
		"text.wasm":          "x",
		"empty/x":            "x",
		"yaml/plugin.yaml":   "{kind: searcher, name: x, comand: [a]}",
		"absent/plugin.yaml": "{kind: searcher, name: x, command: [./a]}",
		"nopath/plugin.yaml": "{kind: searcher, name: x, command: [no-such-program-1]}",
		"plain/plugin.yaml":  "{kind: searcher, name: x, command: [a]}",
		"plain/a":            "x",
		"open/plugin.yaml":   "{kind: searcher, name: x, command: [a]}",
		"open/a":             script,
		"group/plugin.yaml":  "{kind: searcher, name: x, command: [a]}",
		"group/a":            script,
		"loose/program":      script,
		"writable":           script,
	})
	for name, mode := range map[string]os.FileMode{"open": 0o777, "group": 0o775, "loose": 0o777, "writable": 0o757} {
		if err := os.Chmod(filepath.Join(root, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	put(t, root, map[string]string{
		"absolute/plugin.yaml":    "{kind: searcher, name: x, command: [" + root + "/venv/bin/python3, main.py]}",
		"venv/bin/python3":        "x",
		"nowhere/plugin.yaml":     "{kind: searcher, name: x, command: [" + root + "/none/bin/python3, main.py]}",
		"unmade/plugin.yaml":      "{kind: searcher, name: x, command: [.venv/bin/python3, main.py]}",
		"unmade/requirements.txt": "./sdk",
		"un made/plugin.yaml":     "{kind: searcher, name: x, command: [.venv/bin/python3, main.py]}",
		"my notes.txt":            "x",
	})
	pipe := filepath.Join(root, "piped", "plugin.yaml")
	if err := errors.Join(os.Mkdir(filepath.Dir(pipe), 0o700), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"piped":     "piped/plugin.yaml is a pipe, expected a file",
		"missing":   "missing: there is no such file or folder",
		"notes.txt": "notes.txt is not executable: if it is a plugin, run chmod +x ",
		"text.wasm": "text.wasm is not a plugin: it does not begin like a WebAssembly module",
		"empty":     "empty is not a plugin: it has no plugin.yaml",
		"yaml":      `yaml/plugin.yaml:1:27: unknown key "comand"; did you mean "command"?`,
		"absent":    "absent/plugin.yaml:1:27: ",
		"nopath":    `the program "no-such-program-1" is neither in `,
		"plain":     "plain/a is not executable: ",
		"absolute":  root + "/venv/bin/python3: permission denied: you may not run it",
		"nowhere":   root + "/none/bin/python3 does not exist\n",
		"unmade": "make the virtual environment: cd " + root + "/unmade && python3 -m venv .venv && " +
			".venv/bin/pip install -r requirements.txt\n",
		"un made":      "make the virtual environment: cd '" + root + "/un made' && python3 -m venv .venv\n",
		"my notes.txt": "my notes.txt is not executable: if it is a plugin, run chmod +x '" + root + "/my notes.txt'; ",
		"open": "open can be written to by others (drwxrwxrwx), who could change what runs as you: run chmod " +
			"go-w ",
		"group":         "group can be written to by others (drwxrwxr-x)",
		"loose/program": "loose/program is in a folder that everybody can write to",
		"writable":      "writable can be written to by others (-rwxr-xrwx)",
	} {
		if name == "group" && os.Getuid() == os.Getgid() && os.Chown(filepath.Join(root, name), -1, 12345) != nil {
			continue // the user's own group has no other member
		}
		p, err := At(filepath.Join(root, name))
		if err == nil {
			t.Errorf("%s: found %+v", name, p)
		} else if !strings.Contains(err.Error()+"\n", want) || name != "yaml" && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := place(t, map[string]string{"program": script})
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	f := Scan(Place{Dir: dir})
	if len(f.Plugins) != 0 || len(f.Problems) != 1 ||
		!strings.Contains(f.Problems[0].Err.Error(), "belongs to another user (12345; you are 0)") {
		t.Errorf("%+v", f)
	}
}

func TestLinks(t *testing.T) {
	real := place(t, map[string]string{"program": script})
	dir := t.TempDir()
	for name, to := range map[string]string{"place": real, "program": filepath.Join(real, "program")} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	f := Scan(Place{Dir: filepath.Join(dir, "place")})
	if len(f.Plugins) != 0 || len(f.Problems) != 1 ||
		!strings.Contains(f.Problems[0].Err.Error(), "is a symbolic link") {
		t.Errorf("a place that is a link: %+v", f)
	}
	f = Scan(Place{Dir: dir})
	if len(f.Plugins) != 0 || len(f.Problems) != 2 || f.Problems[0].Other {
		t.Errorf("links in a place: %+v", f)
	}
	p, err := At(filepath.Join(dir, "program"))
	if err != nil || p.Program != filepath.Join(real, "program") {
		t.Errorf("a link that the user names: %+v %v", p, err)
	}
}

func TestPlaces(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", "/home/me/.config")
	pos := config.Pos{File: "x.yaml", Line: 3, Column: 1}
	list, err := Places("/work", []string{"more", "/far/away", "./plugins"}, pos)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		got = append(got, p.Dir)
	}
	if want := []string{"/work/plugins", "/work/more", "/far/away",
		"/home/me/.config/tunehost/plugins"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if list[0].Pos == nil || list[3].Pos != nil {
		t.Errorf("a place is named where it should not be: %+v", list)
	}
	if f := Scan(list[1]); len(f.Problems) != 1 ||
		!strings.HasPrefix(f.Problems[0].Err.Error(), "x.yaml:3:1: /work/more: there is no such folder") {
		t.Errorf("%+v", f)
	}
	if f := Scan(list[3]); !f.Missing || len(f.Problems) != 0 {
		t.Errorf("%+v", f)
	}
}

func TestCheck(t *testing.T) {
	sum := func(file string) string {
		s, err := process.HashFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	dir := place(t, map[string]string{"main.py": "print(1)\n", "lib/a.py": "x = 1\n"})
	main, lib := sum(filepath.Join(dir, "main.py")), sum(filepath.Join(dir, "lib/a.py"))
	zeros := strings.Repeat("0", 64)
	for _, c := range []struct{ yaml, want string }{
		{"", ""},
		{"sha256: " + main, ""},
		{"sha256: {main.py: " + main + ", lib/a.py: " + lib + "}", ""},
		{"sha256: " + zeros, "plugin.yaml:2:1: " + filepath.Join(dir, "main.py") +
			" is not the expected file: its SHA-256 is " + main + ", and plugin.yaml expects " + zeros},
		{"sha256: {lib/a.py: " + zeros + "}", "lib/a.py is not the expected file"},
		{"sha256: {lib/b.py: " + zeros + "}", "no such file"},
	} {
		put(t, dir, map[string]string{"plugin.yaml": "{kind: searcher, name: x, command: [sh, -u, main.py],\n" +
			c.yaml + "}\n"})
		p, err := At(dir)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Check()
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.yaml, err, c.want)
			}
			continue
		}
		if err != nil || s.SHA256 != main {
			t.Errorf("%s: %v, SHA-256 %s", c.yaml, err, s.SHA256)
		}
		config := p.Config(s, "/elsewhere")
		if config.Dir != dir || config.SHA256 != "" || config.Files[filepath.Join(dir, "main.py")] != main ||
			config.Files[filepath.Join(dir, "plugin.yaml")] == "" {
			t.Errorf("%s: started as %+v", c.yaml, config)
		}
	}
}

// treeOf puts files into a plugin's folder and hashes it.
func treeOf(t *testing.T, dir string, files map[string]string) (*Plugin, map[string]string) {
	t.Helper()
	put(t, dir, files)
	p, err := At(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Pin()
	if err != nil {
		t.Fatal(err)
	}
	return p, s.Tree
}

// All files of a plugin's folder that could be run are pinned, in any language.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	manifest := "{kind: searcher, name: x, command: [sh, main.py], unpinned: [data, '*.db', logs/*.txt], grants: " +
		"{write: [cache]}}"
	_, tree := treeOf(t, dir, map[string]string{
		"plugin.yaml": manifest, "main.py": "import lib", "lib/__init__.py": "", "lib/deep/a.py": "1",
		"requirements.txt":  "numpy==2",
		"package-lock.json": "{}", "go.sum": "", "target/x.py": "no build: there is no Cargo.toml",
		"rust/Cargo.toml": "", "rust/target/debug/x": "built",
		"__pycache__/main.pyc": "x", "lib/__pycache__/a.pyc": "x", ".git/HEAD": "x", "node_modules/a/index.js": "x",
		".venv/bin/python": "x",
		"env/pyvenv.cfg":   "x", "env/lib/a.py": "x", "mine.egg-info/PKG-INFO": "x", "a.pyc": "x", "data/big.bin": "x",
		"state.db": "x", "logs/a.txt": "x",
		"logs/a.py": "x", "cache/b.py": "x", "out.log": "x",
	})
	want := []string{"go.sum", "lib/__init__.py", "lib/deep/a.py", "logs/a.py", "main.py", "package-lock.json",
		"plugin.yaml", "requirements.txt",
		"rust/Cargo.toml", "target/x.py"}
	if got := slices.Sorted(maps.Keys(tree)); !slices.Equal(got, want) {
		t.Errorf("pinned are %q, want %q", got, want)
	}
}

// A link counts as its target; a cycle of links ends, and a pipe is not opened.
func TestTreeOfLinks(t *testing.T) {
	outside := place(t, map[string]string{"helper.py": "1", "sub/a.py": "1"})
	dir := t.TempDir()
	put(t, dir, map[string]string{"plugin.yaml": "{kind: searcher, name: x, command: [sh, main.py]}", "main.py": "1"})
	for name, to := range map[string]string{"helper.py": filepath.Join(outside, "helper.py"),
		"sub":    filepath.Join(outside, "sub"),
		"circle": dir, "nowhere": "/no/such/file"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, before := treeOf(t, dir, nil)
	if got, want := slices.Sorted(maps.Keys(before)), []string{"helper.py", "main.py", "nowhere", "plugin.yaml",
		"sub/a.py"}; !slices.Equal(got, want) {
		t.Fatalf("pinned are %q, want %q", got, want)
	}
	sums := Sums{Tree: before}
	put(t, outside, map[string]string{"helper.py": "2"})
	if err := p.Unchanged(sums); err == nil || !strings.Contains(err.Error(),
		filepath.Join(dir, "helper.py")+" has changed since this host began") {
		t.Error(err)
	}
	put(t, outside, map[string]string{"helper.py": "1"})
	put(t, dir, map[string]string{"numpy.py": "shadows it"})
	if err := p.Unchanged(sums); err == nil || !strings.Contains(err.Error(), "numpy.py has come since") {
		t.Error(err)
	}
	if sums.Of() == (Sums{}).Of() {
		t.Error("the checksum of all does not cover the folder")
	}
}

// A folder that is too large to hash is refused in one line.
func TestTreeTooLarge(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"plugin.yaml": "{kind: searcher, name: x, command: [sh, main.py]}", "main.py": "1"})
	if err := os.Truncate(filepath.Join(dir, "main.py"), maxTreeBytes+1); err != nil {
		t.Fatal(err)
	}
	p, err := At(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Pin(); err == nil || !strings.Contains(err.Error(),
		"it has more than 10000 files or 1024 MiB: put data elsewhere, or name it under unpinned") {
		t.Error(err)
	}
}

// A file that others could change is refused, wherever it lies in the folder, and whatever runs it.
func TestFilesOfOthers(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "real.py")
	p, _ := treeOf(t, dir, map[string]string{
		"plugin.yaml": "{kind: searcher, name: x, command: [sh, main.py], unpinned: [data]}", "main.py": "import lib",
		"lib/deep/a.py": "1", "data/big.bin": "x",
	})
	if err := os.WriteFile(elsewhere, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "lib/link.py")); err != nil {
		t.Fatal(err)
	}
	for name, refused := range map[string]bool{
		"main.py": true, "lib/deep/a.py": true, "lib/deep": true, "lib/link.py": true, "data/big.bin": false,
	} {
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, info.Mode()|0o002); err != nil {
			t.Fatal(err)
		}
		_, err = p.Pin()
		if got := err != nil && strings.Contains(err.Error(), file+" can be written to by others"); got != refused {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Chmod(file, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
}
