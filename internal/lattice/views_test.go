package lattice

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommandReadsViews: what the command shows, it has from host/view. It looks at no machine of
// the core: neither at core.Machine, nor at view.State, which has one, nor at how to get that.
func TestCommandReadsViews(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "cmd", "tunehost", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range machines(fset, parsed) {
			t.Errorf("%s: the command reads host/view only, and no machine of the core", place)
		}
	}
}

// TestMachinesAreFound checks that the rule can fail.
func TestMachinesAreFound(t *testing.T) {
	const bad = `package p
func f(e *view.Recorded, s *view.State) int {
	var m *core.Machine = s.Machine
	return e.Now().Trials() + time.Now().Second() + a.now().Second()
}`
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, "bad.go", bad, 0)
	if err != nil {
		t.Fatal(err)
	}
	const want = "bad.go:2:34 bad.go:3:14 bad.go:3:26 bad.go:4:11"
	if got := strings.Join(machines(fset, parsed), " "); got != want {
		t.Errorf("found %s, want %s", got, want)
	}
}

// machines are the places of view.State, core.Machine, a field Machine, and Recorded.Now.
func machines(fset *token.FileSet, file *ast.File) (places []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, _ := s.X.(*ast.Ident)
		from := func(name string) bool { return of != nil && of.Name == name }
		switch s.Sel.Name {
		case "Machine":
			ok = true
		case "State":
			ok = from("view")
		case "Now":
			ok = !from("time") && !from("exit")
		default:
			ok = false
		}
		if ok {
			places = append(places, fset.Position(s.Sel.Pos()).String())
		}
		return true
	})
	return places
}
