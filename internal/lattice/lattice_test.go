package lattice

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// lattice says who may import whom, as go/build/deps_test.go does for the
// standard library. The first line that fits a package counts. A name in
// capitals is a set of the lines below the rules, STD the standard library, ANY all
// but this module; "a/…" is what lies below a, "./…" what lies below the package
// itself. Tests may import anything but cmd. Plugins know nothing of each other;
// the searcher auto alone chooses among others, and nobody imports it.
const lattice = `
	core             < PURE, core/resource, core/stat
	core/resource    < PURE
	core/stat        < PURE
	core/record      < PURE, fmt, bytes, encoding/binary, encoding/json, core, core/resource
	core/history     < PURE, fmt, io, io/fs, iter, sort, core, core/journal, core/record, core/resource
	core/coretest    < STD, github.com/cockroachdb/datadriven, core, core/…
	core/journal/journaltest < STD, core/journal
	core/journal     < PURE, FILES, internal/plainfile
	core/…           < PURE, core, core/…

	plugins          < STD
	plugins/sdk      < STD, SERVING, plugins/sdk/…
	plugins/sdk/…    < STD, SERVING, plugins/sdk, plugins/sdk/…
	plugins/schedulers/schedtest < STD, TESTING, plugins/sdk, plugins/sdk/…
	plugins/schedulers/… < STD, gonum.org/v1/gonum/…, plugins/sdk, plugins/sdk/…, plugins/schedulers/internal/…
	plugins/searchers/auto < STD, plugins/sdk, plugins/sdk/…, plugins/searchers/…
	plugins/searchers/… < STD, gonum.org/v1/gonum/…, plugins/sdk, plugins/sdk/…, plugins/searchers/internal/…, ./…
	plugins/catalog  < plugins/sdk, plugins/searchers/…, plugins/schedulers/…
	plugins/trainables/command < STD, plugins/sdk, plugins/sdk/…, ./…, internal/plainfile
	plugins/…        < STD, gonum.org/v1/gonum/…, plugins/sdk, plugins/sdk/…, ./…

	host             < ANY, core, core/…, plugins/…, host/…
	host/clock       < STD
	host/deadlines   < STD
	host/runtimedir  < STD
	host/claims      < STD, host/runtimedir
	host/hostlog     < STD, github.com/hashicorp/go-hclog
	host/queue       < STD
	host/inbox       < STD, core, plugins/sdk
	host/engine      < STD, core, core/history, core/record, host/clock, host/diskspace, host/hostlog, host/inbox, host/stoprules
	host/diskspace   < STD, core/journal, host/clock, host/hostlog
	host/demand      < STD, core/resource, host/config
	host/training    < STD, core, plugins/sdk, plugins/sdk/train, host/clock, host/deadlines, host/demand, host/diskspace, host/hostlog, host/inbox, host/plugin, host/queue, host/storage, host/storage/nolink, host/untrusted
	host/seeds       < STD
	host/points      < STD, core, plugins/sdk, plugins/sdk/space, host/config, host/seeds
	host/translation < STD, core, core/stat, plugins/sdk, plugins/sdk/space
	host/totals      < STD, core, core/stat
	host/stoprules   < STD, core, plugins/sdk, host/config, host/expr, host/inbox, host/totals
	host/snapshots   < STD, plugins/sdk, host/hostlog, host/plugin, host/storage, host/storage/nolink
	host/consulting  < STD, core, core/journal, core/record, plugins/sdk, plugins/sdk/space, host/clock, host/demand, host/hostlog, host/inbox, host/plugin, host/points, host/queue, host/snapshots, host/untrusted
	host/spec        < STD, core, core/resource, core/stat, plugins/sdk, plugins/sdk/space, host/config, host/demand, host/points
	host/loading     < STD, plugins/sdk, host/config, host/lockfile, host/nearest, host/plugin, host/plugin/…, host/report/files, host/storage
	host/telling     < STD, core, core/stat, core/history, plugins/sdk, host/clock, host/deadlines, host/diskspace, host/hostlog, host/plugin, host/report, host/storage, host/storage/nolink, host/totals, host/view
	host/view        < STD, core, core/…, plugins/sdk, host/clock, host/config, host/expr, host/lockfile, host/naming, host/nearest, host/report/jsontext, host/runfile, host/storage, host/storage/nolink, host/totals, host/view/importance
	host/steer       < STD, core, plugins/sdk/space, host/config, host/points, host/view
	host/control     < STD, golang.org/x/sys/…, host/runtimedir, host/steer, host/storage, host/storage/nolink, host/untrusted
	host/report/terminal < ANY, core, host/untrusted, host/report, host/view
	host/report/jsonlines < STD, host/report, host/view
	host/report      < host/view
	host/scaffold/templates/… < STD, plugins/sdk, plugins/sdk/…
	host/storage/nolink < STD, golang.org/x/sys/…, internal/plainfile
	host/storage     < ANY, core, core/…, plugins, plugins/…, host, host/…, internal/plainfile
	host/plugin/folder < ANY, core/…, plugins, plugins/…, host, host/…, internal/plainfile
	host/plugin/process < ANY, core/…, plugins, plugins/…, host, host/…, internal/plainfile
	host/…           < ANY, core, core/…, plugins, plugins/…, host, host/…
	conformance      < ANY, plugins/sdk, plugins/sdk/…, host/plugin, host/plugin/…, host/runtimedir, conformance/…
	conformance/…    < ANY, plugins/sdk, plugins/sdk/…, host/plugin, host/plugin/…, host/runtimedir, conformance, conformance/…
	cmd/…            < ANY, core, core/…, plugins/…, host, host/…, conformance, conformance/…, cmd/…
	bench/…          < ANY, core, core/…, plugins/…, host, host/…
	examples         < STD
	examples/…       < STD, plugins/sdk, plugins/sdk/…
	internal/…       < STD, internal/toolchain
`

// sets are what the rules name in capitals.
var sets = map[string][]string{
	// PURE are functions of their arguments: no clock, no randomness, no files,
	// no goroutines, and nothing that knows the machine.
	"PURE":    {"cmp", "errors", "math", "math/bits", "slices", "strconv", "strings"},
	"FILES":   {"bytes", "encoding/binary", "fmt", "hash/crc32", "io", "io/fs", "os", "path/filepath", "sync", "syscall", "time"},
	"SERVING": {"github.com/agnivade/levenshtein", "github.com/hashicorp/…", "google.golang.org/…", "golang.org/x/sys/…"},
	"TESTING": {"github.com/cockroachdb/datadriven", "pgregory.net/rapid"},
}

const module = "github.com/tunehost/tunehost/"

type rule struct {
	of      string
	imports []string
}

func rules() (list []rule) {
	for line := range strings.Lines(lattice) {
		if of, imports, ok := strings.Cut(line, " < "); ok {
			r := rule{of: strings.TrimSpace(of)}
			for i := range strings.SplitSeq(strings.TrimSpace(imports), ", ") {
				r.imports = append(r.imports, i)
			}
			list = append(list, r)
		}
	}
	return list
}

// fits says whether pattern stands for the package name.
func fits(pattern, name string) bool {
	if root, tree := strings.CutSuffix(pattern, "…"); tree {
		return strings.HasPrefix(name, root)
	}
	return pattern == name
}

// allows says whether a rule allows an import; names of this module are without
// its path.
func (r rule) allows(of, name string, ours bool) bool {
	standard := !ours && !strings.Contains(strings.Split(name, "/")[0], ".")
	for _, p := range r.imports {
		switch {
		case p == "ANY" && !ours, p == "STD" && standard, p == "./…" && ours && strings.HasPrefix(name, of+"/"):
			return true
		case slices.ContainsFunc(sets[p], func(p string) bool { return !ours && fits(p, name) }):
			return true
		case ours && fits(p, name), !ours && strings.Contains(p, ".") && fits(p, name):
			return true
		case !ours && standard && p == name:
			return true
		}
	}
	return false
}

// TestImports reads every file that is not a test.
func TestImports(t *testing.T) {
	list := rules()
	for file, imports := range files(t) {
		of := path.Dir(file)
		i := slices.IndexFunc(list, func(r rule) bool { return fits(r.of, of) })
		if i < 0 {
			t.Errorf("%s: no line of the lattice is about %s", file, of)
			continue
		}
		for _, name := range imports {
			short, ours := strings.CutPrefix(name, module)
			if strings.HasSuffix(file, "_test.go") {
				if ours && fits("cmd/…", short) && !fits("cmd/…", of) {
					t.Errorf("%s imports %s: nobody imports the command", file, short)
				}
				continue
			}
			if !list[i].allows(of, short, ours) {
				t.Errorf("%s imports %s, but %s may import only: %s", file, short, of, strings.Join(list[i].imports, ", "))
			}
		}
	}
}

// TestOpposite holds what must not be, whatever the lines above become.
func TestOpposite(t *testing.T) {
	never := []struct{ of, imports string }{
		{"core/", "host/"}, {"core/", "plugins/"}, {"core/", "cmd/"},
		{"plugins/", "host/"}, {"plugins/", "core/"}, {"plugins/sdk/", "plugins/se"}, {"plugins/searchers/", "plugins/schedulers/"},
		{"plugins/schedulers/", "plugins/searchers/"}, {"plugins/trainables/", "plugins/searchers/"}, {"host/", "cmd/"}, {"conformance/", "cmd/"},
	}
	for file, imports := range files(t) {
		for _, n := range never {
			for _, name := range imports {
				short, ours := strings.CutPrefix(name, module)
				if ours && !strings.HasSuffix(file, "_test.go") && strings.HasPrefix(file, n.of) && strings.HasPrefix(short+"/", n.imports) {
					t.Errorf("%s imports %s", file, short)
				}
			}
		}
	}
}

// TestRules shows that the rules can refuse.
func TestRules(t *testing.T) {
	list := rules()
	for _, c := range []struct {
		of, name string
		want     bool
	}{
		{"core", "strings", true}, {"core", "time", false}, {"core", "math/rand/v2", false}, {"core", "os", false},
		{"core", module + "core/stat", true}, {"core", module + "plugins/sdk", false}, {"core", "golang.org/x/exp/slices", false},
		{"core/stat", module + "core", false}, {"core/journal", "os", true}, {"core/journal", "net", false},
		{"plugins/sdk", module + "host", false}, {"plugins/searchers/grid", module + "core", false},
		{"plugins/searchers/grid", module + "plugins/searchers/random", false}, {"plugins/searchers/grid", "gonum.org/v1/gonum/stat", true},
		{"plugins/searchers/auto", module + "plugins/searchers/tpe", true}, {"plugins/searchers/tpe", module + "plugins/searchers/auto", false},
		{"plugins/searchers/auto", module + "plugins/schedulers/asha", false},
		{"plugins/searchers/grid", "google.golang.org/grpc", false}, {"host/config", module + "core", true}, {"host/config", module + "cmd/tunehost", false},
		{"core", module + "core/coretest", false}, {"plugins/trainables/x", module + "plugins/trainables/x/y", true},
		{"cmd/tunehost", module + "host", true}, {"cmd/tunehost", module + "core", true}, {"cmd/tunehost", module + "examples", false},
	} {
		i := slices.IndexFunc(list, func(r rule) bool { return fits(r.of, c.of) })
		short, ours := strings.CutPrefix(c.name, module)
		if got := list[i].allows(c.of, short, ours); got != c.want {
			t.Errorf("%s importing %s: allowed is %t", c.of, c.name, got)
		}
	}
}

// files returns the imports of each file of the repository.
func files(t *testing.T) map[string][]string {
	list := map[string][]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules" || name == "target") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		list[rel] = []string{}
		for _, i := range f.Imports {
			s, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			list[rel] = append(list[rel], s)
		}
		return nil
	})
	if err != nil || len(list) < 20 {
		t.Fatalf("%d files: %v", len(list), err)
	}
	return list
}
