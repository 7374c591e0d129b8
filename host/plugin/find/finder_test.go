package find

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// A plugin that is asked for by the name of its folder is named.
func TestNameOfTheFolder(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "plugins", "mism")
	if err := os.MkdirAll(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"plugin.yaml": "{kind: searcher, name: other-name, command: [run]}",
		"run":         "#!/bin/sh\n",
	} {
		if err := os.WriteFile(filepath.Join(mine, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f, err := New(&bundled.Registry{}, dir, nil, config.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Find(sdk.KindSearcher, "mism")
	want := mine + ` is named "other-name", as its plugin.yaml says`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %s", err, want)
	}
}
