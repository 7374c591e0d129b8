package scaffold

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "give the templates in Go the versions of this module's dependencies")

// TestGoBuilds makes a plugin of each kind in Go, and builds one: the SDK's copy, go.mod and go.sum
// are complete. The code itself is compiled and tested as part of this module.
func TestGoBuilds(t *testing.T) {
	for _, kind := range Kinds("go") {
		dir := filepath.Join(t.TempDir(), "my-own")
		if err := (Plugin{Kind: kind, Language: "go", Dir: dir}).Make(); err != nil {
			t.Fatal(err)
		}
		placeholders(t, dir)
		goes(t, dir, "list", "-deps", "-test", ".")
		if kind != "searcher" {
			continue
		}
		goes(t, dir, "build")
		if _, err := os.Stat(filepath.Join(dir, "my-own")); err != nil {
			t.Error("go build did not make the program that plugin.yaml names:", err)
		}
	}
}

// goes runs the go command, with only the dependencies of tunehost.
func goes(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
}

// placeholders checks that no placeholder is left.
func placeholders(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(Placeholder)) || strings.HasSuffix(path, ".tmpl") ||
			strings.Contains(path, "sdk/plugins") && strings.HasSuffix(path, "_test.go") {
			t.Errorf("%s should not be there as it is", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLanguages checks that each language has the kinds that are written most often, and Python all kinds, with what an
// author needs first.
func TestLanguages(t *testing.T) {
	for _, language := range Languages() {
		kinds := []string{"searcher", "scheduler", "trainable"}
		if language == "python" {
			kinds = append(kinds, "reporter", "executor")
		}
		for _, kind := range kinds {
			dir := filepath.Join(t.TempDir(), "own")
			if err := (Plugin{Kind: kind, Language: language, Dir: dir}).Make(); err != nil {
				t.Errorf("%s in %s: %v", kind, language, err)
				continue
			}
			for file, want := range map[string]string{"plugin.yaml": "kind: " + kind, "README.md": "What to edit"} {
				content, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil || !strings.Contains(string(content), want) {
					t.Errorf("%s in %s: %s has no %q (%v)", kind, language, file, want, err)
				}
			}
			placeholders(t, dir)
		}
	}
}

func TestMistakes(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new")
	for _, c := range []struct {
		plugin Plugin
		want   string
	}{
		{Plugin{Kind: "sercher", Language: "go", Dir: dir},
			`--kind "sercher": expected executor, reporter, scheduler, searcher, trainable; did you mean "searcher"?`},
		{Plugin{Kind: "sercher", Dir: dir}, `--kind "sercher": expected executor, `},
		{Plugin{Kind: "reporter", Dir: dir}, `--lang "": expected python`},
		{Plugin{Kind: "executor", Language: "rust", Dir: dir},
			`--kind "executor": there is no template of it in rust, only in python; `},
		{Plugin{Kind: "searcher", Language: "golang", Dir: dir},
			`--lang "golang": expected go, javascript, python, rust`},
		{Plugin{Kind: "searcher", Dir: dir}, `--lang "": expected go, javascript, python, rust`},
		{Plugin{Kind: "searcher", Language: "go", Dir: full}, "is not empty: name a folder that does not exist yet"},
		{Plugin{Kind: "searcher", Language: "go", Dir: dir, Name: "My Own"},
			`--name "My Own": expected lower case letters`},
		{Plugin{Kind: "searcher", Language: "go", Dir: filepath.Join(dir, "größe")},
			"cannot be named after this folder"},
	} {
		err := c.plugin.Make()
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", c.plugin, err, c.want)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a mistake has left a folder behind")
	}
}

var requirement = regexp.MustCompile(`(?m)^(\t|require )(\S+) (v\S+)`)

// TestGoVersions checks that the templates in Go need the versions that this module needs, so that a
// plugin can be built without a network where tunehost was built.
func TestGoVersions(t *testing.T) {
	ours, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{"github.com/tunehost/tunehost": "v0.0.0"}
	for _, m := range requirement.FindAllStringSubmatch(string(ours), -1) {
		versions[m[2]] = m[3]
	}
	for _, file := range []string{"templates/go/common/go.mod.tmpl", "templates/go/common/sdk/go.mod.tmpl"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		same(t, file, text, requirement.ReplaceAllFunc(text, func(line []byte) []byte {
			m := requirement.FindSubmatch(line)
			return []byte(string(m[1]) + string(m[2]) + " " + versions[string(m[2])])
		}))
	}
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	file := "templates/go/common/go.sum.tmpl"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	same(t, file, text, sums)
}

func same(t *testing.T, file string, is, should []byte) {
	t.Helper()
	if bytes.Equal(is, should) {
		return
	}
	if !*rewrite {
		t.Errorf("%s does not agree with this module's dependencies: run go test ./host/scaffold -run Versions "+
			"-rewrite", file)
		return
	}
	if err := os.WriteFile(file, should, 0o644); err != nil {
		t.Error(err)
	}
}
