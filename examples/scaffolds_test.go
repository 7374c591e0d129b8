package examples

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/scaffold"
	"github.com/tunehost/tunehost/internal/pages"
	"github.com/tunehost/tunehost/internal/toolchain"
)

// A language says what is needed to build plugins in it.
type language struct {
	// needs must be installed beside Go.
	needs *toolchain.Language
	// kept is a folder in the first plugin that the next ones share, because filling it is slow;
	// fills are the commands that fill it.
	kept  string
	fills []string
	// slow: a process takes long to start, and conformance starts many.
	slow bool
}

var languages = map[string]language{
	"go": {},
	"python": {needs: &toolchain.Python, kept: ".venv", fills: []string{"python3 -m venv", ".venv/bin/pip"},
		slow: true},
	"rust":       {needs: &toolchain.Rust},
	"javascript": {needs: &toolchain.JavaScript, kept: "node_modules", fills: []string{"npm install"}, slow: true},
}

// TestScaffolds follows the README of each new plugin. The first plugin in a language, the
// searcher, is built from scratch; the others share its downloads.
func TestScaffolds(t *testing.T) {
	t.Parallel()
	bin := build(t)
	for _, name := range scaffold.Languages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := languages[name]
			l.has(t)
			h := &scaffolds{language: l, bin: bin, name: name, dir: t.TempDir()}
			for _, kind := range []string{"searcher", "scheduler", "trainable", "reporter", "executor"} {
				if slices.Contains(scaffold.Kinds(name), kind) {
					h.follow(t, kind)
				}
			}
			if name == "go" {
				h.follow(t, "searcher", "wasm")
			}
			h.conforms(t)
		})
	}
}

func (l language) has(t *testing.T) {
	t.Helper()
	if l.needs != nil {
		toolchain.Need(t, *l.needs)
	}
}

// scaffolds is a folder of new plugins.
type scaffolds struct {
	language
	bin  binary
	name string
	dir  string
	// filled is the kept folder of the first plugin.
	filled string
}

// follow creates a plugin, with optional switches, and follows its README.
func (h *scaffolds) follow(t *testing.T, kind string, switches ...string) {
	t.Helper()
	dir := filepath.Join(h.dir, strings.Join(append([]string{kind}, switches...), "-"))
	args := []string{"plugins", "new", "--kind", kind, "--lang", h.name, dir}
	for _, s := range switches {
		args = append(args, "--"+s)
	}
	h.bin.command(t, h.dir, args...)
	blocks, err := pages.Blocks(readFile(t, filepath.Join(dir, "README.md")), "")
	if err != nil {
		t.Fatal(err)
	}
	if h.filled != "" {
		if err := os.Symlink(h.filled, filepath.Join(dir, h.kept)); err != nil {
			t.Fatal(err)
		}
		for i := range blocks {
			blocks[i].Text = h.without(blocks[i].Text)
		}
	} else if h.kept != "" {
		h.filled = filepath.Join(dir, h.kept)
	}
	out := run(t, h.bin, dir, blocks)
	if want := kind + " " + filepath.Base(dir) + ": "; !strings.Contains(out, want) {
		t.Errorf("%s: %q is not in what was printed:\n%s", kind, want, out)
	}
}

// without removes the commands that fill the kept folder.
func (h *scaffolds) without(script string) (rest string) {
	for line := range strings.Lines(script) {
		fills := false
		for _, f := range h.fills {
			fills = fills || strings.HasPrefix(line, f)
		}
		if !fills {
			rest += line
		}
	}
	return rest
}

// some has the only check that plugins with a slow start must pass, of the kinds that have many checks.
var some = map[string]string{"searcher": "searcher/finite", "scheduler": "scheduler/restore",
	"trainable": "trainable/restore"}

// conforms runs the conformance suite on the plugins.
func (h *scaffolds) conforms(t *testing.T) {
	t.Helper()
	dirs, err := os.ReadDir(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		t.Run("conformance of "+d.Name(), func(t *testing.T) {
			t.Parallel()
			args := []string{"conformance", "--short", "./" + d.Name()}
			if only := some[d.Name()]; h.slow && only != "" {
				args = append(args, "--only", only)
			}
			h.bin.command(t, h.dir, args...)
		})
	}
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
