package plugins

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// The copy of the Python SDK that new plugins get has every package that its pyproject.toml names.
func TestPythonSDKIsWhole(t *testing.T) {
	text, err := fs.ReadFile(pythonSDK, "sdk/python/pyproject.toml")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^packages = \[(.*)\]$`).FindSubmatch(text)
	if list == nil {
		t.Fatal("pyproject.toml names no packages")
	}
	for name := range strings.SplitSeq(string(list[1]), ",") {
		name = strings.Trim(name, ` "`)
		path := "sdk/python/" + strings.ReplaceAll(name, ".", "/") + "/__init__.py"
		if _, err := fs.Stat(pythonSDK, path); err != nil {
			t.Errorf("%s is not in the copy: %v", name, err)
		}
	}
}
