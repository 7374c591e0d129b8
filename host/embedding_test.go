package host

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// public are the packages that other modules may import, as ARCHITECTURE.md lists them.
var public = []string{"core", "conformance", "host", "host/plugin/bundled", "host/plugin/standard", "host/steer",
	"host/view", "plugins/catalog", "plugins/sdk"}

// A program of another module runs experiments in its process, follows one and stops it. It
// imports public packages alone, and it works with plugins in its own process and in others.
func TestAnotherModule(t *testing.T) {
	dir, root := t.TempDir(), moduleRoot(t)
	source, err := os.ReadFile(filepath.Join("testdata", "embedding.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(source)) {
		name, ours := strings.CutPrefix(strings.TrimSpace(line), `"github.com/tunehost/tunehost/`)
		if name = strings.TrimSuffix(name, `"`); ours && !slices.Contains(public, name) {
			t.Errorf("%s is not public", name)
		}
	}
	put(t, filepath.Join(dir, "main.go"), source)
	put(t, filepath.Join(dir, "go.mod"), otherModule(t, root))
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "go.sum"), sums)
	build := exec.Command("go", "build", "-mod=mod", "-o", "program", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off", "GOPROXY=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"results"}, {"results-2", "processes"}} {
		program := exec.Command("./program", args...)
		program.Dir = dir
		out, err := program.CombinedOutput()
		const want = "program: finished 0 <nil>\nfunction: stopped <nil>\nrecorded: stopped true true <nil>\n"
		if err != nil || string(out) != want {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

func put(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// otherModule is the go.mod of a module that has this one from its folder, and what this one
// requires in the same versions.
func otherModule(t *testing.T, root string) []byte {
	t.Helper()
	ours, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(ours), "\n")
	lines, tool := []string{}, false
	for line := range strings.Lines(rest) {
		if tool = tool || strings.HasPrefix(line, "tool ("); !tool {
			lines = append(lines, line)
		}
		tool = tool && !strings.HasPrefix(line, ")")
	}
	return fmt.Appendf(nil, "module example.org/other\n%s\nrequire github.com/tunehost/tunehost v0.0.0\n"+
		"replace github.com/tunehost/tunehost => %s\n", strings.Join(lines, ""), root)
}
