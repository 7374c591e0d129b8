package remote

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/agent"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/upload"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// elsewhere lists the uploads of an experiment whose node does not have the files: they were written at other times
// there.
func elsewhere(t *testing.T, c *Uploads, root string, names ...string) {
	t.Helper()
	tree, err := upload.Collect(root, names, "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range tree.Files {
		tree.Files[i].Written++
	}
	if c.listed == nil {
		c.listed = map[string]listed{}
	}
	c.listed[listedBy(root, names)] = listed{tree, tree.Digest(), time.Now().Add(time.Hour)}
}

// node is the connection to an agent with a folder.
func node(t *testing.T) (s link.Session, dir string) {
	t.Setenv("TMPDIR", t.TempDir())
	dir = t.TempDir()
	s, there := link.Pipe()
	a := agent.New(agent.Options{Dir: dir})
	go func() { _ = a.Serve(there) }()
	t.Cleanup(func() { _ = s.Close(); a.Close() })
	return s, dir
}

func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A program gets the paths of its node: of the folder of its plugin, of its module, and of uploaded files.
func TestMoved(t *testing.T) {
	s, dir := node(t)
	base, plugin, modules := folder(t, "train.py"), folder(t, "run", "data"), folder(t, "m.wasm")
	c := &Uploads{Base: base, Upload: []string{"train.py"}}
	elsewhere(t, c, base, "train.py")
	elsewhere(t, c, plugin, ".")
	elsewhere(t, c, modules, "m.wasm")
	got, err := c.move(t.Context(), 1, s, process.Program{Path: plugin + "/run", Dir: plugin,
		Args: []string{plugin + "/data", "other"}, Files: map[string]string{plugin + "/data": "sum"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Dir, dir) || got.Path != got.Dir+"/run" || got.Args[0] != got.Dir+"/data" ||
		got.Args[1] != "other" || got.Files[got.Dir+"/data"] != "sum" {
		t.Errorf("%+v", got)
	}
	at := slices.IndexFunc(got.Env, func(v string) bool { return strings.HasPrefix(v, sdk.BaseDirVariable+"="+dir) })
	if at < 0 {
		t.Fatal(got.Env)
	}
	_, uploaded, _ := strings.Cut(got.Env[at], "=")
	for path, want := range map[string]string{uploaded + "/train.py": "train.py", got.Path: "run"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != "content of "+want {
			t.Errorf("%s: %q %v", path, text, err)
		}
	}

	config, _ := json.Marshal(sandbox.Config{Path: modules + "/m.wasm"})
	got, err = c.move(t.Context(), 1, s,
		process.Program{Path: "/self", Args: []string{sandbox.Command, string(config)}})
	if err != nil {
		t.Fatal(err)
	}
	if module := moduleOf(got); !strings.HasPrefix(module, dir) || got.Path != "/self" {
		t.Errorf("%+v", got)
	}
	again, err := c.move(t.Context(), 1, s, process.Program{Dir: base})
	if err != nil || again.Dir != uploaded {
		t.Errorf("the second process has %s, %v; the first %s", again.Dir, err, uploaded)
	}
}

// If the node has the same files, it uses them.
func TestNotMoved(t *testing.T) {
	s, dir := node(t)
	base := folder(t, "train.py")
	c := &Uploads{Base: base, Upload: []string{"train.py"}}
	got, err := c.move(t.Context(), 1, s, process.Program{Dir: base})
	if err != nil || got.Dir != base || !slices.Contains(got.Env, sdk.BaseDirVariable+"="+base) {
		t.Errorf("%+v %v", got, err)
	}
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Error(list)
	}
	c = &Uploads{Base: base, Upload: []string{"none.py"}}
	if _, err := c.move(t.Context(), 1, s, process.Program{}); err == nil || !strings.Contains(err.Error(), "none.py") {
		t.Error(err)
	}
}

// A module beside uploaded files is sent, too.
func TestModuleBesideUploads(t *testing.T) {
	s, dir := node(t)
	base := folder(t, "data", "m.wasm")
	c := &Uploads{Base: base, Upload: []string{"data"}}
	elsewhere(t, c, base, "data")
	elsewhere(t, c, base, "m.wasm")
	config, _ := json.Marshal(sandbox.Config{Path: base + "/m.wasm"})
	got, err := c.move(t.Context(), 1, s,
		process.Program{Path: "/self", Args: []string{sandbox.Command, string(config)}})
	if err != nil {
		t.Fatal(err)
	}
	_, uploaded, _ := strings.Cut(got.Env[len(got.Env)-1], "=")
	for _, path := range []string{moduleOf(got), uploaded + "/data"} {
		if _, err := os.Stat(path); err != nil || !strings.HasPrefix(path, dir) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// Sent is called each time that a process starts on a node that has uploaded files, and not for a
// node that sees the files.
func TestSent(t *testing.T) {
	base, count := folder(t, "data"), 0
	c := &Uploads{Base: base, Upload: []string{"data"}}
	c.Sent = func(names []string, tree *upload.Tree) {
		if count++; !slices.Equal(names, c.Upload) || len(tree.Files) != 1 {
			t.Errorf("%q %+v", names, tree)
		}
	}
	start := func(s link.Session, want int) {
		t.Helper()
		if _, err := c.move(t.Context(), 1, s, process.Program{Dir: base}); err != nil || count != want {
			t.Errorf("told %d times, %v; want %d", count, err, want)
		}
	}
	sees, _ := node(t)
	start(sees, 0)
	elsewhere(t, c, base, "data")
	other, _ := node(t)
	start(other, 1)
	start(other, 2)
}
