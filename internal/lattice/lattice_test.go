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

// lattice defines which package may import which, as go/build/deps_test.go does for the standard
// library. The first line that matches a package applies. A name in capitals is one of the sets
// below the rules, STD is the standard library, ANY is everything outside this module, and both have
// internal/lazily, which only wraps parts of the standard library; "a/…" is
// everything below a, "./…" everything below the package itself; a line without < continues the
// previous one. Tests may import anything except cmd. Plugins do not import each other; only the
// searcher auto imports other searchers, and nobody imports it.
const lattice = `
	core             < PURE, core/resource, core/stat
	core/resource    < PURE
	core/stat        < PURE, iter
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
	plugins/searchers/internal/dense < STD, golang.org/x/sys/cpu, plugins/sdk/…, gonum.org/v1/gonum/…
	plugins/searchers/internal/portable < STD, golang.org/x/sys/cpu, plugins/sdk/…
	plugins/searchers/… < STD, gonum.org/v1/gonum/…, plugins/sdk, plugins/sdk/…, plugins/searchers/internal/…, ./…
	plugins/catalog  < plugins/sdk, plugins/searchers/…, plugins/schedulers/…
	plugins/trainables/command < STD, plugins/sdk, plugins/sdk/…, ./…, internal/plainfile
	plugins/executors/batch < STD, plugins/sdk, plugins/sdk/…, internal/plainfile, internal/shelltext
	plugins/executors/slurm < STD, plugins/sdk, plugins/sdk/…, internal/plainfile, internal/shelltext
	plugins/executors/kubernetes < STD, k8s.io/…, sigs.k8s.io/…, github.com/go-logr/logr, plugins/sdk, plugins/sdk/…
	plugins/executors/fake < STD, plugins/sdk, plugins/sdk/…, internal/plainfile
	plugins/…        < STD, gonum.org/v1/gonum/…, plugins/sdk, plugins/sdk/…, ./…

	host             < ANY, core, core/…, plugins/…, host/…
	host/clock       < STD
	host/config/fit  < STD, github.com/google/jsonschema-go/…
	host/deadlines   < STD
	host/storage/runtimedir  < STD, host/storage/nolink
	host/local/claims      < STD, host/storage/runtimedir
	host/hostlog     < STD, github.com/hashicorp/go-hclog
	host/machine     < STD
	host/queue       < STD
	host/inbox       < STD, core, plugins/sdk
	host/engine      < STD, core, core/history, core/record, host/clock, host/storage/diskspace, host/hostlog,
		host/inbox, host/config/stoprules
	host/storage/lack        < STD
	host/storage/diskspace   < STD, core/journal, host/clock, host/hostlog, host/storage/lack
	host/config/request     < STD, core/resource, host/config
	host/attempt/life < PURE, fmt, core, plugins/sdk, plugins/sdk/train
	host/attempt    < STD, core, host/attempt/life, plugins/sdk, plugins/sdk/train, host/clock, host/deadlines,
		host/exec, host/config/request, host/storage/diskspace,
		host/hostlog, host/inbox, host/plugin, host/queue, host/storage,
		host/storage/nolink, host/untrusted
	host/config/seeds       < STD
	host/config/points      < STD, core, plugins/sdk, plugins/sdk/space, host/config, host/config/seeds
	host/consult/translation < STD, core, core/stat, plugins/sdk, plugins/sdk/space
	host/config/totals      < STD, core, core/stat
	host/config/stoprules   < STD, core, plugins/sdk, host/config, host/config/expr, host/inbox, host/config/totals
	host/consult/snapshots   < STD, plugins/sdk, host/hostlog, host/plugin, host/storage, host/storage/nolink
	host/consult  < STD, core, core/journal, core/record, plugins/sdk, plugins/sdk/space, host/clock,
		host/config/request, host/hostlog, host/inbox, host/plugin, host/config/points, host/queue,
		host/consult/snapshots, host/untrusted
	host/config/spec        < STD, core, core/resource, core/stat, plugins/sdk, plugins/sdk/space, host/config,
		host/config/request, host/config/points
	host/plugin/loading     < STD, plugins/sdk, host/config, host/plugin/lockfile, host/nearest, host/plugin,
		host/plugin/…, host/deadlines, host/storage
	host/report/publish     < STD, core, core/stat, core/history, plugins/sdk, host/clock, host/deadlines,
		host/storage/diskspace, host/hostlog, host/plugin, host/report, host/storage, host/storage/nolink,
		host/config/totals, host/view
	host/view        < STD, core, core/…, plugins/sdk, host/clock, host/config, host/config/expr,
		host/plugin/lockfile, host/storage/naming, host/nearest, host/jsontext, host/storage/runfile,
		host/storage, host/storage/nolink, host/config/totals, host/view/importance, host/view/course,
		host/deadlines, plugins/sdk/space
	host/view/course < STD, core, core/history, core/resource, core/stat
	host/steer       < STD, host/usererror, host/nearest, core, core/journal, plugins/sdk/space, host/config,
		host/config/points, host/storage/runfile, host/untrusted, host/view
	host/steer/unixsock     < STD, golang.org/x/sys/…, host/usererror, host/storage/runtimedir, ` +
	`core/journal, host/steer, host/storage,
		host/storage/nolink, host/untrusted
	host/report/terminal < ANY, core, host/untrusted, host/config/expr, host/storage/naming, host/report, host/view
	host/report/jsonlines < STD, host/report, host/view
	host/report      < host/view
	docs             < STD
	host/scaffold    < STD, docs, plugins, plugins/sdk, host/nearest
	host/scaffold/templates/… < STD, plugins/sdk, plugins/sdk/…
	host/storage/nolink < STD, golang.org/x/sys/…, internal/plainfile
	host/storage/sparse < STD, golang.org/x/sys/…
	host/storage     < ANY, core, core/…, plugins, plugins/…, host, host/…, internal/plainfile
	host/storage/mirror < ANY, core, core/…, plugins, plugins/…, host, host/…, internal/plainfile
	host/agent/upload < ANY, core/…, plugins, plugins/…, host, host/…, internal/plainfile
	host/agent/tree < ANY, core/…, plugins, plugins/…, host, host/…, internal/plainfile
	host/plugin/folder < ANY, core/…, plugins, plugins/…, host, host/…, internal/plainfile
	host/plugin/process < ANY, core/…, plugins, plugins/…, host, host/…, internal/plainfile
	host/web         < STD
	host/web/bundle  < STD, github.com/evanw/esbuild/…
	host/web/browser < STD
	host/…           < ANY, core, core/…, plugins, plugins/…, host, host/…
	conformance      < ANY, plugins/sdk, plugins/sdk/…, host/plugin, host/plugin/…, host/storage/runtimedir,
		host/config/fit, conformance/…
	conformance/…    < ANY, plugins/sdk, plugins/sdk/…, host/plugin, host/plugin/…, host/storage/runtimedir,
		conformance, conformance/…
	cmd/tunehost     < ANY, core, core/journal, core/record, core/resource, plugins/…, host, host/…, conformance,
		conformance/…
	cmd/…            < ANY, core, core/…, plugins/…, host, host/…, conformance, conformance/…, cmd/…
	bench/clusterbench < ANY, plugins/sdk, plugins/sdk/serve, host/agent, host/agent/link, host/clock, host/local,
		internal/engines/slurm
	bench/…          < ANY, core, core/…, plugins/…, host, host/…
	examples         < STD
	examples/…       < STD, plugins/sdk, plugins/sdk/…
	internal/engines/… < STD, internal/engines, internal/toolchain
	internal/…       < STD, internal/toolchain
`

// sets are the names in capitals.
var sets = map[string][]string{
	// PURE packages are functions of their arguments: no clock, no randomness, no files, no
	// goroutines, and nothing machine-dependent.
	"PURE": {"cmp", "errors", "math", "math/bits", "slices", "strconv", "strings"},
	"FILES": {"bytes", "encoding/binary", "fmt", "hash/crc32", "io", "io/fs", "os", "path/filepath", "sync",
		"syscall", "time"},
	"SERVING": {"github.com/agnivade/levenshtein", "github.com/hashicorp/…", "google.golang.org/…",
		"golang.org/x/sys/…"},
	"TESTING": {"github.com/cockroachdb/datadriven", "pgregory.net/rapid"},
}

const module = "github.com/tunehost/tunehost/"

type rule struct {
	of      string
	imports []string
}

func rules() (list []rule) {
	for line := range strings.Lines(lattice) {
		of, imports, begins := strings.Cut(line, " < ")
		if begins {
			list = append(list, rule{of: strings.TrimSpace(of)})
		} else {
			imports = line
		}
		for i := range strings.SplitSeq(strings.Trim(imports, ", \t\n"), ", ") {
			if i != "" {
				list[len(list)-1].imports = append(list[len(list)-1].imports, i)
			}
		}
	}
	return list
}

// fits reports whether pattern matches the package name.
func fits(pattern, name string) bool {
	if root, tree := strings.CutSuffix(pattern, "…"); tree {
		return strings.HasPrefix(name, root)
	}
	return pattern == name
}

// allows reports whether a rule allows an import; names of this module are without its path.
func (r rule) allows(of, name string, ours bool) bool {
	standard := !ours && !strings.Contains(strings.Split(name, "/")[0], ".")
	for _, p := range r.imports {
		switch {
		case (p == "STD" || p == "ANY") && ours && name == "internal/lazily":
			return true
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
				t.Errorf("%s imports %s, but %s may import only: %s", file, short, of,
					strings.Join(list[i].imports, ", "))
			}
		}
	}
}

// TestOpposite checks imports that must never be allowed, however the rules change.
func TestOpposite(t *testing.T) {
	never := []struct{ of, imports string }{
		{"core/", "host/"}, {"core/", "plugins/"}, {"core/", "cmd/"},
		{"plugins/", "host/"}, {"plugins/", "core/"}, {"plugins/sdk/", "plugins/se"}, {"plugins/searchers/",
			"plugins/schedulers/"},
		{"plugins/schedulers/", "plugins/searchers/"}, {"plugins/trainables/", "plugins/searchers/"}, {"host/",
			"cmd/"}, {"conformance/", "cmd/"},
	}
	for file, imports := range files(t) {
		for _, n := range never {
			for _, name := range imports {
				short, ours := strings.CutPrefix(name, module)
				if ours && !strings.HasSuffix(file, "_test.go") && strings.HasPrefix(file, n.of) &&
					strings.HasPrefix(short+"/", n.imports) {
					t.Errorf("%s imports %s", file, short)
				}
			}
		}
	}
}

// TestRules checks that the rules can fail.
func TestRules(t *testing.T) {
	list := rules()
	for _, c := range []struct {
		of, name string
		want     bool
	}{
		{"core", "strings", true}, {"core", "time", false}, {"core", "math/rand/v2", false}, {"core", "os", false},
		{"core", module + "core/stat", true}, {"core", module + "plugins/sdk", false}, {"core",
			"golang.org/x/exp/slices", false},
		{"core/stat", module + "core", false}, {"core/journal", "os", true}, {"core/journal", "net", false},
		{"plugins/sdk", module + "host", false}, {"plugins/searchers/grid", module + "core", false},
		{"plugins/searchers/grid", module + "plugins/searchers/random", false}, {"plugins/searchers/grid",
			"gonum.org/v1/gonum/stat", true},
		{"plugins/searchers/auto", module + "plugins/searchers/tpe", true}, {"plugins/searchers/tpe",
			module + "plugins/searchers/auto", false},
		{"plugins/searchers/auto", module + "plugins/schedulers/asha", false},
		{"plugins/searchers/grid", "google.golang.org/grpc", false}, {"host/config", module + "core",
			true}, {"host/config", module + "cmd/tunehost", false},
		{"core", module + "core/coretest", false}, {"plugins/trainables/x", module + "plugins/trainables/x/y", true},
		{"cmd/tunehost", module + "host", true}, {"cmd/tunehost", module + "core", true}, {"cmd/tunehost",
			module + "examples", false},
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
		if d.IsDir() && p != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
			name == "testdata" || name == "node_modules" || name == "target") {
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
