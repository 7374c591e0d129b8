package validate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
)

// A script is looked for where the program is started, too.
func TestScriptInCWD(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "work", "t.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := &config.Experiment{Origin: config.Origin{File: filepath.Join(dir, "a.yaml")},
		Trainable: &config.Trainable{CWD: "work"}}
	for arg, want := range map[string]bool{"t.sh": false, "other.sh": true, "work/t.sh": false} {
		if got := absentScript(e, arg); got != want {
			t.Errorf("%s: absent is %t", arg, got)
		}
	}
}

// A folder of plugins that is none is a doubt, as one that does not exist.
func TestUnusableFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := &config.Experiment{Origin: config.Origin{File: filepath.Join(dir, "a.yaml")}}
	for place, want := range map[string]string{".": "", "none": "plugins: none: there is no such folder",
		"file": "plugins: file is not a folder", "/dev/zero": "plugins: /dev/zero is not a folder"} {
		e.Plugins = []string{place}
		list := unusableFolders(e)
		if (len(list) > 0) != (want != "") || want != "" && !strings.HasPrefix(list[0].Msg, want) {
			t.Errorf("%s: %v, want %q", place, list, want)
		}
	}
}
