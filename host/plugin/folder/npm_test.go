package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program for Node whose packages are not installed is refused with the command that installs them; one without
// packages, or with those of a folder above, is not.
func TestPackagesOfNode(t *testing.T) {
	bin := t.TempDir()
	put(t, bin, map[string]string{"node": "#!/bin/sh\n"})
	if err := os.Chmod(filepath.Join(bin, "node"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	manifest := "{kind: searcher, name: x, command: [node, main.js]}"
	for _, c := range []struct {
		files map[string]string
		says  string
	}{
		{map[string]string{"package.json": `{"dependencies": {"tunehost": "file:./sdk"}}`},
			"node_modules does not exist; install the packages: cd "},
		{map[string]string{"package.json": "\ufeff" + `{"dependencies": {"a": "1"}}`}, "node_modules does not exist"},
		{map[string]string{"package.json": `{"type": "module"}`}, ""},
		{map[string]string{"package.json": `{"dependencies": {"a": "1"}}`, "node_modules/a/index.js": ""}, ""},
		{map[string]string{"package.json": `{"dependencies": {"a": "1"}}`, "../node_modules/a/index.js": ""}, ""},
		{map[string]string{}, ""},
	} {
		dir := filepath.Join(t.TempDir(), "x")
		put(t, dir, map[string]string{"plugin.yaml": manifest, "main.js": ""})
		put(t, dir, c.files)
		_, err := At(dir)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%v: %v, want %q", c.files, err, c.says)
		}
	}
}
