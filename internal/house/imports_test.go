package house

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tunehost/tunehost/"

// lattice says what packages may import. The first line that fits a package
// holds for it; a name that ends in /... stands for the folder and all below.
// Names without a dot in their first part are of the standard library, where all
// stands for the whole of it; the module's own packages begin with a dot, and
// any stands for other modules. Tests are free.
const lattice = `
./core: errors math slices strconv strings ./core/resource ./core/stat
./core/resource ./core/stat: cmp errors math math/bits slices strconv strings
./core/record: encoding/binary encoding/json errors fmt math ./core ./core/resource
./core/journal: all
./core/coretest ./core/journal/journaltest: all any ./core/...

./plugins/sdk/...: all any ./plugins/sdk/...
./plugins/searchers/internal/... ./plugins/searchers/searchtest: all any ./plugins/sdk/... ./plugins/searchers/internal/...
./plugins/schedulers/internal/... ./plugins/schedulers/schedtest: all any ./plugins/sdk/... ./plugins/schedulers/internal/...
./plugins/searchers/...: all gonum.org/... ./plugins/sdk/... ./plugins/searchers/internal/...
./plugins/schedulers/...: all gonum.org/... ./plugins/sdk/... ./plugins/schedulers/internal/...
./plugins/trainables/...: all gonum.org/... golang.org/x/sys/... ./plugins/sdk/... ./plugins/trainables/internal/...

./host/...: all any ./core/... ./host/... ./plugins/...
./conformance/...: all any ./conformance/... ./plugins/... ./host/plugin/...
./cmd/...: all any ./cmd/... ./host/... ./core/... ./plugins/... ./conformance/...
./examples/...: all any ./plugins/sdk/...
./internal/...: all any
`

type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestImports(t *testing.T) {
	rules := parseLattice(t)
	for _, p := range packages(t) {
		name := short(p.ImportPath)
		allowed, ok := rules.of(name)
		if !ok {
			t.Errorf("%s is in no room: give it a line in the lattice of internal/house/imports_test.go", name)
			continue
		}
		for _, i := range p.Imports {
			if !slices.ContainsFunc(allowed, func(pattern string) bool { return fits(pattern, short(i)) }) {
				t.Errorf("%s imports %s; it may import %s", name, short(i), strings.Join(allowed, " "))
			}
		}
	}
}

func TestLattice(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"./core", "./core", true},
		{"./core", "./core/resource", false},
		{"./core/...", "./core", true},
		{"./core/...", "./core/resource", true},
		{"./core/...", "./coretest", false},
		{"all", "os/exec", true},
		{"all", "gonum.org/v1/gonum/blas", false},
		{"any", "gonum.org/v1/gonum/blas", true},
		{"any", "./host", false},
		{"any", "os", false},
		{"gonum.org/...", "gonum.org/v1/gonum/blas", true},
	} {
		if got := fits(c.pattern, c.name); got != c.want {
			t.Errorf("fits(%q, %q) = %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
}

type rule struct{ packages, allowed []string }

type rules []rule

func parseLattice(t *testing.T) (list rules) {
	t.Helper()
	for line := range strings.Lines(lattice) {
		names, allowed, ok := strings.Cut(line, ":")
		if ok {
			list = append(list, rule{strings.Fields(names), strings.Fields(allowed)})
		}
	}
	return list
}

// of returns what a package may import.
func (list rules) of(name string) (allowed []string, ok bool) {
	for _, r := range list {
		if slices.ContainsFunc(r.packages, func(pattern string) bool { return fits(pattern, name) }) {
			return r.allowed, true
		}
	}
	return nil, false
}

func fits(pattern, name string) bool {
	first, _, _ := strings.Cut(name, "/")
	own, standard := first == ".", !strings.Contains(first, ".")
	switch pattern {
	case "all":
		return standard
	case "any":
		return !own && !standard
	}
	folder, below := strings.CutSuffix(pattern, "/...")
	return name == folder || below && strings.HasPrefix(name, folder+"/")
}

// short writes packages of the module with a dot.
func short(importPath string) string {
	if own, ok := strings.CutPrefix(importPath, module); ok {
		return "./" + own
	}
	return path.Clean(importPath)
}

func packages(t *testing.T) (list []goPackage) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}
