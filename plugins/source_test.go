package plugins

import (
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// A copy of the Go SDK has every package of the SDK that it imports. Otherwise new plugins could not be built.
func TestGoSDKIsComplete(t *testing.T) {
	const sdk = "github.com/tunehost/tunehost/plugins/sdk"
	source, _ := SDK("go")
	has, needs := map[string]bool{}, map[string]string{}
	err := source.Each(func(file string, content []byte) error {
		if path.Ext(file) != ".go" {
			return nil
		}
		has[path.Dir(file)] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, content, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range parsed.Imports {
			if name := strings.Trim(i.Path.Value, `"`); strings.HasPrefix(name, sdk) {
				needs[strings.TrimPrefix(name, "github.com/tunehost/tunehost/")] = file
			}
		}
		return nil
	})
	if err != nil || len(has) == 0 {
		t.Fatal(len(has), err)
	}
	for name, file := range needs {
		if !has[name] {
			t.Errorf("%s imports %s, which source.go does not embed", file, name)
		}
	}
}
