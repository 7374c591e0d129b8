package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// mention is a file or folder in backquotes: `host/loop.go`, `core/`.
	mention = regexp.MustCompile("`((?:core|host|plugins|cmd|conformance|examples|docs|internal)/[\\w./-]*)`")
)

// documents are the repository's Markdown files.
func documents(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skip("not a git checkout")
	}
	return strings.Fields(string(out))
}

// TestLinks: links to files, and files that are named, exist.
func TestLinks(t *testing.T) {
	for _, doc := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target != "" && !strings.Contains(target, ":") {
				exists(t, doc, filepath.Join(filepath.Dir(doc), target))
			}
		}
		for _, m := range mention.FindAllStringSubmatch(string(text), -1) {
			exists(t, doc, m[1])
		}
	}
}

func exists(t *testing.T, doc, file string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, file)); err != nil {
		t.Errorf("%s names %s, which does not exist", doc, file)
	}
}

// TestReadmePlugins: the README's table has every bundled plugin.
func TestReadmePlugins(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := filepath.Glob(filepath.Join(root, "plugins", "*", "*", "doc.go"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no plugins found: %v", err)
	}
	for _, file := range dirs {
		dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(file), root+"/"))
		if strings.HasPrefix(dir, "plugins/sdk/") || strings.HasSuffix(dir, "test") {
			continue
		}
		if !strings.Contains(string(readme), "]("+dir+")") {
			t.Errorf("README.md does not list %s: add it to the table of what comes with tunehost", dir)
		}
	}
}

// function is a file and a function in it: `host/loop.go` `step`.
var function = regexp.MustCompile("`([\\w/.-]+\\.go)`\\s+`(\\w+)`")

// TestFunctions: functions that are named after their file are there.
func TestFunctions(t *testing.T) {
	for _, doc := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			code, err := os.ReadFile(filepath.Join(root, m[1]))
			if err != nil {
				t.Errorf("%s: %v", doc, err)
			} else if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + m[2] + `[(\[]`).Match(code) {
				t.Errorf("%s names %s in %s, which is not there", doc, m[2], m[1])
			}
		}
	}
}

// TestRationale: RATIONALE.md says why each module that is imported is there.
func TestRationale(t *testing.T) {
	why, err := os.ReadFile(filepath.Join(root, "RATIONALE.md"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "list", "-f", `{{range .Imports}}{{println .}}{{end}}{{range .TestImports}}{{println .}}{{end}}{{range .XTestImports}}{{println .}}{{end}}`, "./...")
	cmd.Dir = root
	imports, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, m := range required(t) {
		if strings.Contains("\n"+string(imports), "\n"+m) && !strings.Contains(string(why), m) {
			t.Errorf("RATIONALE.md does not say why %s is needed", m)
		}
	}
}

// required are the modules of go.mod.
func required(t *testing.T) (modules []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+`).FindAllStringSubmatch(string(text), -1) {
		modules = append(modules, m[1])
	}
	return modules
}

// TestRooms: each folder with Go files below core/ and host/, two deep, has its row in
// ARCHITECTURE.md.
func TestRooms(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| `") {
			folders, _, _ := strings.Cut(line[1:], "|")
			rows.WriteString(folders)
		}
	}
	for _, pattern := range []string{"core/*/*.go", "core/*/*/*.go", "host/*/*.go", "host/*/*/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no Go files found: %v", pattern, err)
		}
		for _, file := range files {
			dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(file), root+string(filepath.Separator)))
			if strings.Contains(dir, "/internal") || strings.Contains(rows.String(), "`"+dir+"/`") {
				continue
			}
			rows.WriteString("`" + dir + "/`")
			t.Errorf("ARCHITECTURE.md has no row for %s/: add it to the table of rooms", dir)
		}
	}
}
