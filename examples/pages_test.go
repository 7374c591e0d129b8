package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/pages"
	"github.com/tunehost/tunehost/internal/toolchain"
)

// TestPages follows pages of documentation in an empty folder, with only tunehost and the page's
// language installed.
func TestPages(t *testing.T) {
	t.Parallel()
	bin := build(t)
	for _, c := range []struct {
		page, heading, language string
		want                    []string // expected output
	}{
		{"../README.md", "Write a searcher", "go", []string{" passed, 0 failed", "best    accuracy"}},
	} {
		t.Run(c.heading, func(t *testing.T) {
			languages[c.language].has(t)
			blocks, err := pages.Blocks(readFile(t, c.page), c.heading)
			if err != nil {
				t.Fatal(err)
			}
			out := run(t, bin, t.TempDir(), blocks)
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in what was printed:\n%s", want, out)
				}
			}
		})
	}
}

// The code that a page quotes is what `tunehost plugins new` writes.
func TestQuotedCode(t *testing.T) {
	blocks, err := pages.Blocks(readFile(t, "../README.md"), "Write a searcher")
	if err != nil {
		t.Fatal(err)
	}
	template, quoted := readFile(t, "../host/scaffold/templates/go/searcher/main.go"), 0
	for _, b := range blocks {
		if b.Language != "go" {
			continue
		}
		quoted++
		if !strings.Contains(template, b.Text) {
			t.Errorf("README.md:%d: the code is not in the template", b.Line)
		}
	}
	if quoted == 0 {
		t.Error("README.md quotes no code")
	}
}

// run executes the blocks of a page in a folder and returns the output.
func run(t *testing.T, bin binary, dir string, blocks []pages.Block) string {
	t.Helper()
	path := []string{keepingCargo(t), filepath.Dir(string(bin)), os.Getenv("PATH")}
	r := pages.Runner{Dir: dir, Env: append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir(), "GOWORK=off",
		"npm_config_prefer_offline=true", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_QUIET=1",
		"PATH="+strings.Join(path, string(os.PathListSeparator)))}
	out, err := r.Run(blocks)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// keepingCargo returns a folder with a cargo that keeps built dependencies for the next run and
// does not optimise. It returns "" if there is no cargo.
func keepingCargo(t *testing.T) string {
	t.Helper()
	cargo, ok := toolchain.Find(toolchain.Rust)
	if !ok {
		return ""
	}
	kept, err := filepath.Abs("../.tools/cargo/pages")
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\n[ -e target ] || ln -s '%s' target\n"+
		"unset CARGO_TARGET_DIR\nCARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_BUILD_JOBS=2 exec '%s' \"$@\"\n", kept, cargo)
	dir := t.TempDir()
	if err := os.MkdirAll(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cargo"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
