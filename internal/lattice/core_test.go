package lattice

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCoreIsAFunction checks that the core has no goroutine, channel, select, defer, recover, or
// loop over a map, whose order varies; and that it multiplies no floats, which machines may round
// differently.
func TestCoreIsAFunction(t *testing.T) {
	for _, dir := range []string{"core", "core/record", "core/resource"} {
		fset, syntax := parsed(t, filepath.Join("..", "..", dir))
		for _, problem := range impure(fset, syntax, typed(t, dir, fset, syntax)) {
			t.Error(problem)
		}
	}
}

// TestImpure checks that the rules can fail.
func TestImpure(t *testing.T) {
	const bad = `package p
func f(m map[int]int, c chan int, x float64) float64 {
	go f(m, c, x)
	for range m {}
	c <- 1
	<-c
	for range c {}
	select {}
	defer f(m, c, x)
	recover()
	println(x)
	return x*x
}`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "bad.go", bad, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := typed(t, "p", fset, []*ast.File{file})
	got := strings.Join(impure(fset, []*ast.File{file}, info), "\n")
	for _, want := range []string{"2:25: a channel type", "3:2: a goroutine", "4:2: a loop over a map",
		"5:2: a channel", "6:2: a channel",
		"7:2: a loop over a channel", "8:2: a select", "9:2: a deferred call", "10:2: recover", "11:2: println",
		"12:9: arithmetic of floats"} {
		if !strings.Contains(got, "bad.go:"+want) {
			t.Errorf("%s was not found in\n%s", want, got)
		}
	}
}

func parsed(t *testing.T, dir string) (*token.FileSet, []*ast.File) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var list []*ast.File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, e.Name()), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return fset, list
}

// goroot tells the importer where the standard library is, which a test built with -trimpath does
// not know.
func goroot(t *testing.T) {
	if build.Default.GOROOT != "" {
		return
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	build.Default.GOROOT = strings.TrimSpace(string(root))
}

func typed(t *testing.T, name string, fset *token.FileSet, syntax []*ast.File) *types.Info {
	goroot(t)
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := config.Check(name, fset, syntax, info); err != nil {
		t.Fatal(err)
	}
	return info
}

func impure(fset *token.FileSet, syntax []*ast.File, info *types.Info) (problems []string) {
	for _, f := range syntax {
		ast.Inspect(f, func(n ast.Node) bool {
			if what := impurity(n, info); what != "" {
				problems = append(problems, fset.Position(n.Pos()).String()+": "+what)
			}
			return true
		})
	}
	return problems
}

func impurity(n ast.Node, info *types.Info) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a goroutine"
	case *ast.SelectStmt:
		return "a select"
	case *ast.DeferStmt:
		return "a deferred call"
	case *ast.SendStmt:
		return "a channel is written"
	case *ast.ChanType:
		return "a channel type"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "a channel is read"
		}
	case *ast.RangeStmt:
		return looped(info.Types[n.X].Type)
	case *ast.Ident:
		if b, ok := info.Uses[n].(*types.Builtin); ok &&
			(b.Name() == "recover" || b.Name() == "print" || b.Name() == "println") {
			return b.Name()
		}
	case *ast.BinaryExpr:
		return arithmetic(n, info)
	}
	return ""
}

func looped(over types.Type) string {
	switch over.Underlying().(type) {
	case *types.Map:
		return "a loop over a map"
	case *types.Chan:
		return "a loop over a channel"
	}
	return ""
}

// arithmetic allows comparisons and constants.
func arithmetic(n *ast.BinaryExpr, info *types.Info) string {
	x := info.Types[n]
	b, ok := x.Type.Underlying().(*types.Basic)
	if ok && b.Info()&types.IsFloat != 0 && x.Value == nil {
		return "arithmetic of floats"
	}
	return ""
}
