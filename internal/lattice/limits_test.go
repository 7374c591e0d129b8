package lattice

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The limits of code that is not a test.
const (
	hostLines    = 1500 // of package host
	imports      = 20   // of this module, by a package
	structFields = 20
	funcLines    = 60
)

var rewriteLimits = flag.Bool("rewrite", false, "drop what is not beyond the limits any more from testdata/limits.txt")

const limitsFile = "testdata/limits.txt"

// Package host only puts together what others do.
func TestHostIsSmall(t *testing.T) {
	lines := 0
	for file := range files(t) {
		if path.Dir(file) != "host" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(text), "\n")
	}
	if lines == 0 || lines > hostLines {
		t.Errorf("package host has %d lines (at most %d)", lines, hostLines)
	}
}

// No struct and no function is larger than the limits, and no package imports more packages of this
// module, but for those that testdata/limits.txt has with their size. That list only shrinks: nothing
// is added, and nothing in it may grow. With -rewrite the test writes the remaining list.
func TestLimits(t *testing.T) {
	allowed := readLimits(t)
	var left []string
	note := func(dir, what string, size int) {
		name := dir + " " + what
		if size > allowed[name] {
			t.Errorf("%s: %s has %d, and %d are allowed: split it", dir, what, size, max(allowed[name], limit(what)))
			size = allowed[name]
		}
		if size > 0 {
			left = append(left, fmt.Sprintf("%s %d", name, size))
		}
	}
	list := files(t)
	for file := range list {
		if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".pb.go") {
			continue
		}
		for what, size := range large(t, file) {
			note(path.Dir(file), what, size)
		}
	}
	for dir, n := range manyImports(list) {
		note(dir, "package imports", n)
	}
	slices.Sort(left)
	if *rewriteLimits {
		if err := os.WriteFile(limitsFile, []byte(strings.Join(left, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if len(left) < len(allowed) {
		t.Errorf("%s allows what is not there any more: run go test ./internal/lattice -run Limits -rewrite",
			limitsFile)
	}
}

func readLimits(t *testing.T) map[string]int {
	text, err := os.ReadFile(limitsFile)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var dir, kind, name string
		var size int
		if n, err := fmt.Sscan(line, &dir, &kind, &name, &size); n != 4 {
			t.Fatalf("%s: %q: %v", limitsFile, line, err)
		}
		allowed[dir+" "+kind+" "+name] = size
	}
	return allowed
}

func limit(what string) int {
	switch {
	case strings.HasPrefix(what, "struct "):
		return structFields
	case strings.HasPrefix(what, "package "):
		return imports
	}
	return funcLines
}

// manyImports are the folders whose packages import more of this module than the limit.
func manyImports(files map[string][]string) map[string]int {
	of := map[string]map[string]bool{}
	for file, list := range files {
		dir := path.Dir(file)
		for _, name := range list {
			short, ours := strings.CutPrefix(name, module)
			if ours && short != "internal/lazily" && !strings.HasSuffix(file, "_test.go") {
				if of[dir] == nil {
					of[dir] = map[string]bool{}
				}
				of[dir][name] = true
			}
		}
	}
	many := map[string]int{}
	for dir, list := range of {
		if len(list) > imports {
			many[dir] = len(list)
		}
	}
	return many
}

// large are the structs and functions of a file that are larger than the limits, with their size.
func large(t *testing.T, file string) map[string]int {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, filepath.Join("..", "..", file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return largeIn(fset, f)
}

func largeIn(fset *token.FileSet, f *ast.File) map[string]int {
	list := map[string]int{}
	note := func(what string, size int) {
		if size > limit(what) {
			list[what] = size
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				note("struct "+n.Name.Name, fields(s))
			}
		case *ast.FuncDecl:
			note("func "+receiver(n)+n.Name.Name, fset.Position(n.End()).Line-fset.Position(n.Pos()).Line+1)
		}
		return true
	})
	return list
}

// fields counts the fields of a struct; an embedded one is one.
func fields(s *ast.StructType) (n int) {
	for _, f := range s.Fields.List {
		n += max(len(f.Names), 1)
	}
	return n
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	name := ""
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name + "."
		}
		return true
	})
	return name
}

// TestManyImports shows that a package can have too many imports; those of tests do not count.
func TestManyImports(t *testing.T) {
	list := map[string][]string{"a/x.go": {module + "b", "fmt"}, "b/x_test.go": {}}
	for i := range imports {
		list["a/y.go"] = append(list["a/y.go"], fmt.Sprint(module, i))
		list["b/x_test.go"] = append(list["b/x_test.go"], fmt.Sprint(module, i), fmt.Sprint(module, "t", i))
	}
	if got := manyImports(list); len(got) != 1 || got["a"] != imports+1 {
		t.Errorf("%v", got)
	}
}

// TestLarge shows that the limits can be exceeded.
func TestLarge(t *testing.T) {
	source := "package x\ntype s struct { a, b int; " + strings.Repeat("_ int; ", 19) + "}\nfunc (x *s) f() {" +
		strings.Repeat("\n", 60) + "}\ntype small struct{ s }\n"
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := largeIn(fset, f)
	if len(got) != 2 || got["struct s"] != 21 || got["func s.f"] != 61 {
		t.Errorf("%v", got)
	}
}
