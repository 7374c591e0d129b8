package house

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	root = "../.."
	list = root + "/docs/BEHAVIOURS.md"
)

var rewrite = flag.Bool("rewrite", false, "write the column of docs/BEHAVIOURS.md that says where each rule is tested")

var (
	number = regexp.MustCompile(`\bB-\d{3}\b`)
	// row is a line of a table: number, rule, packages.
	row = regexp.MustCompile(`(?m)^\| (B-\d{3}) \| (.*) \| ([^|]*) \|$`)
)

// TestBehaviours compares the list of behaviours with the tests that name them, and prints the
// coverage.
func TestBehaviours(t *testing.T) {
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	tests := testsByNumber(t)
	var open []string
	seen := map[string]bool{}
	fresh := row.ReplaceAllStringFunc(string(text), func(line string) string {
		m := row.FindStringSubmatch(line)
		if seen[m[1]] {
			t.Errorf("docs/BEHAVIOURS.md has %s twice", m[1])
		}
		seen[m[1]] = true
		files := tests[m[1]]
		if len(files) == 0 {
			open = append(open, m[1])
		}
		if testing.Verbose() {
			t.Logf("%s %s", m[1], strings.Join(files, " "))
		}
		return "| " + m[1] + " | " + m[2] + " | " + cell(files) + " |"
	})
	for _, n := range slices.Sorted(maps.Keys(tests)) {
		if !seen[n] {
			t.Errorf("%s names %s, which docs/BEHAVIOURS.md does not have", tests[n][0], n)
		}
	}
	t.Logf("%d of %d behaviours are named by a test; open: %s", len(seen)-len(open), len(seen), strings.Join(open, " "))
	if fresh == string(text) {
		return
	}
	if !*rewrite {
		t.Fatal("docs/BEHAVIOURS.md does not say where rules are tested now: run make generate and commit what changes")
	}
	if err := os.WriteFile(list, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cell returns the packages of test files; packages change less often than files.
func cell(files []string) string {
	dirs := map[string]bool{}
	for _, f := range files {
		dir, _, _ := strings.Cut(path.Dir(f), "/testdata")
		dirs[dir] = true
	}
	if len(dirs) == 0 {
		return "open"
	}
	return "`" + strings.Join(slices.Sorted(maps.Keys(dirs)), "`, `") + "`"
}

// testsByNumber returns the test files that name each behaviour, sorted.
func testsByNumber(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && file != root &&
			(name[0] == '.' || name == "node_modules" || name == "results") {
			return filepath.SkipDir
		}
		rel := filepath.ToSlash(strings.TrimPrefix(file, root+string(filepath.Separator)))
		if d.IsDir() || !isTest(rel) {
			return nil
		}
		text, err := os.ReadFile(file)
		for _, n := range slices.Compact(slices.Sorted(slices.Values(number.FindAllString(string(text), -1)))) {
			found[n] = append(found[n], rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// isTest reports whether a file is a test: of Go or Python, a story, a script, or a case of the
// conformance suite.
func isTest(file string) bool {
	name := path.Base(file)
	switch path.Ext(name) {
	case ".go":
		return strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(file, "internal/house/")
	case ".py":
		return strings.HasPrefix(name, "test_") || strings.HasSuffix(name, "_test.py")
	case ".txt", ".txtar":
		return strings.Contains(file, "/testdata/")
	case ".yaml":
		return strings.HasPrefix(file, "conformance/")
	}
	return false
}

func TestIsTest(t *testing.T) {
	for file, want := range map[string]bool{
		"host/host_test.go": true, "host/host.go": false, "internal/house/behaviours_test.go": false,
		"core/testdata/pause.txt": true, "cmd/tunehost/testdata/script/run.txtar": true, "docs/notes.txt": false,
		"plugins/sdk/python/tests/test_report.py": true, "examples/python-script/train_print.py": false,
		"conformance/suites/searcher.yaml": true, "examples/shell/experiment.yaml": false,
	} {
		if got := isTest(file); got != want {
			t.Errorf("isTest(%q) = %v, want %v", file, got, want)
		}
	}
}
