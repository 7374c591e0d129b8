package house

import (
	"os"
	"os/exec"
	"path"
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

// documents returns the repository's Markdown files.
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

// TestLinks checks that linked and named files exist, and that linked headings do.
func TestLinks(t *testing.T) {
	for _, doc := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			linked := doc
			if target != "" {
				linked = filepath.Join(filepath.Dir(doc), target)
				exists(t, doc, linked)
			}
			if anchor != "" && strings.HasSuffix(linked, ".md") && !headings(t, linked)[anchor] {
				t.Errorf("%s links to #%s, which is no heading of %s", doc, anchor, linked)
			}
		}
		for _, m := range mention.FindAllStringSubmatch(string(text), -1) {
			exists(t, doc, m[1])
		}
	}
}

var (
	heading = regexp.MustCompile(`^#+ (.*)$`)
	// unspoken is what an anchor leaves out of its heading.
	unspoken = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// headings returns the anchors of a document, as GitHub makes them of its headings.
func headings(t *testing.T, doc string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, doc))
	if err != nil {
		t.Fatal(err)
	}
	anchors, code := map[string]bool{}, false
	for line := range strings.Lines(string(text)) {
		code = code != strings.HasPrefix(line, "```")
		m := heading.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || code {
			continue
		}
		plain := unspoken.ReplaceAllString(strings.ToLower(m[1]), "")
		anchors[strings.ReplaceAll(plain, " ", "-")] = true
	}
	return anchors
}

func exists(t *testing.T, doc, file string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, file)); err != nil {
		t.Errorf("%s names %s, which does not exist", doc, file)
	}
}

// TestReadmePlugins checks that the README's table has every bundled plugin.
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

// function matches a file and a function in it: `host/loop.go` `step`.
var function = regexp.MustCompile("`([\\w/.-]+\\.go)`\\s+`(\\w+)`")

// TestFunctions checks that functions named after their file exist.
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

// TestRationale checks that RATIONALE.md has a reason for each imported module.
func TestRationale(t *testing.T) {
	why, err := os.ReadFile(filepath.Join(root, "RATIONALE.md"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "list", "-f",
		`{{range .Imports}}{{println .}}{{end}}{{range .TestImports}}{{println .}}{{end}}{{range `+
			`.XTestImports}}{{println .}}{{end}}`, "./...")
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

// required returns the modules of go.mod.
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

// TestRooms checks that each folder with Go files below core/ and host/, two levels deep, has a row
// in ARCHITECTURE.md, or is below a folder that has one. The row of host/ is for that package alone.
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
			if !strings.Contains(dir, "/internal") && !hasRow(rows.String(), dir) {
				rows.WriteString("`" + dir + "/`")
				t.Errorf("ARCHITECTURE.md has no row for %s/: add it to the table of packages", dir)
			}
		}
	}
	for dir, want := range map[string]bool{"a/b": true, "a/b/c": true, "a/d": false, "host/x": false, "host": true} {
		if hasRow("`a/b/`, `host/`", dir) != want {
			t.Errorf("%s has a row: %t", dir, !want)
		}
	}
}

// hasRow reports whether a folder, or one above it, is in the first column of the table.
func hasRow(rows, dir string) bool {
	if strings.Contains(rows, "`"+dir+"/`") {
		return true
	}
	above := path.Dir(dir)
	return above != "." && above != "host" && hasRow(rows, above)
}
