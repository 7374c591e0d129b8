package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// TestOtherSystems checks that what a file for other systems than Linux declares for the rest of its
// package exists on Linux, too: otherwise a renamed function would break the build on other systems,
// and no test would notice.
func TestOtherSystems(t *testing.T) {
	linux, others := map[string]bool{}, map[string][]string{}
	sources(t, func(file, text string) {
		switch {
		case strings.HasSuffix(file, "_test.go"):
		case strings.HasSuffix(file, "_other.go"):
			for _, name := range declared(t, file, text) {
				if !usedBeside(text, name) {
					others[file] = append(others[file], name)
				}
			}
		default:
			for _, name := range declared(t, file, text) {
				linux[path.Dir(file)+" "+name] = true
			}
		}
	})
	if len(others) < 10 {
		t.Error("files for other systems are not found:", len(others))
	}
	for file, names := range others {
		for _, name := range names {
			if !linux[path.Dir(file)+" "+name] {
				t.Errorf("%s: %s is declared only here, not for Linux: was the function for Linux renamed?", file, name)
			}
		}
	}
}

// usedBeside reports whether the file that declares a function or method calls it, so that no other file needs to.
func usedBeside(text, name string) bool {
	_, method, ok := strings.Cut(name, ".")
	if ok {
		name = method
	}
	return strings.Count(text, name+"(") > 1
}

// declared returns the names that a file declares at its top level; those of methods have their type.
func declared(t *testing.T, file, text string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, receiver(d)+d.Name.Name)
		case *ast.GenDecl:
			names = append(names, specified(d)...)
		}
	}
	return names
}

// specified returns the names of types, variables and constants.
func specified(d *ast.GenDecl) (names []string) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			names = append(names, s.Name.Name)
		case *ast.ValueSpec:
			for _, name := range s.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// receiver returns the type of a method and a period, or "".
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}
