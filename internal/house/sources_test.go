package house

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxColumns is the maximum length of a line of Go; a tab is four columns.
const (
	maxColumns = 120
	tabColumns = 4
)

// sources calls f with each hand-written Go file and its text.
func sources(t *testing.T, f func(file, text string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		foreign := name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")
		if d.IsDir() && path != root && foreign {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && !generated.Match(text) {
			f(filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator))), string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// columns returns the length of a line.
func columns(line string) int {
	line = strings.TrimRight(line, "\n")
	return len([]rune(line)) + strings.Count(line, "\t")*(tabColumns-1)
}

// exceptions reads a list in testdata: what, and how many are allowed.
type exceptions struct {
	file, heading string
	allowed       map[string]int
}

func readExceptions(t *testing.T, file string) *exceptions {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	e := &exceptions{file: file, allowed: map[string]int{}}
	for line := range strings.Lines(string(text)) {
		what, count, ok := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, "#") || !ok {
			e.heading += line
			continue
		}
		if e.allowed[what], err = strconv.Atoi(count); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return e
}

// hold fails if there is more than allowed; found has the current numbers. Moving something from
// one row to another is allowed. With -rewrite, the list becomes the current numbers, unless they
// are larger.
func (e *exceptions) hold(t *testing.T, found map[string][]string) {
	t.Helper()
	rows, above, are, may := e.heading, "", 0, 0
	for _, n := range e.allowed {
		may += n
	}
	for _, what := range slices.Sorted(maps.Keys(found)) {
		n := len(found[what])
		are += n
		rows += fmt.Sprintf("%s %d\n", what, n)
		if n > e.allowed[what] {
			first := strings.Join(found[what][:min(n, 5)], "\n\t")
			above += fmt.Sprintf("\n%d in %s, not %d, the first:\n\t%s", n, what, e.allowed[what], first)
		}
	}
	if are > may {
		t.Fatalf("%d, and %s allows %d; there are more than before in:%s", are, e.file, may, above)
	}
	if *rewrite {
		if err := os.WriteFile(e.file, []byte(rows), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLines checks that lines of Go have at most 120 columns.
func TestLines(t *testing.T) {
	sources(t, func(file, text string) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			if c := columns(line); c > maxColumns {
				t.Errorf("%s:%d: %d columns: wrap it at %d", file, n, c, maxColumns)
			}
		}
	})
}

var (
	skip = regexp.MustCompile(`\b[tbf]\.Skip(f|Now)?\(`)
	// foreign matches code that starts or looks for a program of another language.
	foreign = regexp.MustCompile(`\bexec\.LookPath\(|\bexec\.Command(Context)?\(([\w.()]+, )?` +
		`"(python3?|node|npm|npx|cargo|rustc|clang|gcc|cc|zig)"`)
)

// TestSkips checks that tests ask package internal/toolchain for other languages, which reports
// skipped tests, and fails if none may be skipped. The list counts the few other reasons to skip a
// test.
func TestSkips(t *testing.T) {
	e := readExceptions(t, "testdata/skips.txt")
	skips := map[string][]string{}
	sources(t, func(file, text string) {
		own := strings.HasPrefix(file, "internal/toolchain/") || file == "internal/house/sources_test.go"
		if !strings.HasSuffix(file, "_test.go") || own {
			return
		}
		n := 0
		for line := range strings.Lines(text) {
			n++
			at := fmt.Sprintf("%s:%d: %s", file, n, strings.TrimSpace(line))
			if foreign.MatchString(line) {
				t.Errorf("%s\n\tuse toolchain.Need of internal/toolchain for programs of other languages", at)
			}
			if skip.MatchString(line) {
				skips[file] = append(skips[file], at)
			}
		}
	})
	e.hold(t, skips)
}

// walking matches code that reads a record, or makes a machine for it.
var walking = regexp.MustCompile(`\brecord\.Parse\(|\bjournal\.(NewReader|Verify)\(|` +
	`\bcore\.New\(\)|[mM]achine\.Apply\(`)

// TestOneWalk checks that all code reads records with core/history. The exceptions are listed here:
// checks of empty records, and the source of the simulated world.
func TestOneWalk(t *testing.T) {
	allowed := map[string]string{
		"host/compose/setup/record.go": "journal.Verify(", // newRecord: is it empty?
		"host/compose/setup/setup.go":  "journal.NewReader(",
	}
	sources(t, func(file, text string) {
		if strings.HasPrefix(file, "core/") || strings.HasSuffix(file, "_test.go") {
			return
		}
		for _, found := range walking.FindAllString(text, -1) {
			if allowed[file] != found {
				t.Errorf("%s has %s: records are read through core/history", file, found)
			}
		}
	})
}

// TestExceptions checks that these tests can fail.
func TestExceptions(t *testing.T) {
	if got := columns("\t\té" + strings.Repeat("x", 111) + "\n"); got != 120 {
		t.Errorf("a line has %d columns, not 120", got)
	}
	for line, bad := range map[string]bool{
		`	_, err := exec.LookPath(name)`:                true,
		`	exec.Command("python3", "-c", "1")`:           true,
		`	exec.CommandContext(t.Context(), "cargo", x)`: true,
		`	exec.Command(cargo, "build")`:                 false,
		`	exec.Command("sh", "-c", "python3")`:          false,
	} {
		if foreign.MatchString(line) != bad {
			t.Errorf("%q: %t, want %t", line, !bad, bad)
		}
	}
	for _, line := range []string{"at, e, err := record.Parse(b)", "m := core.New()", "x.machine.Apply(at, e)",
		"journal.NewReader(fs)"} {
		if !walking.MatchString(line) {
			t.Errorf("%s is not found", line)
		}
	}
	for _, line := range []string{"t.Skip(err)", "b.Skipf(x)", "\tt.SkipNow()"} {
		if !skip.MatchString(line) {
			t.Errorf("%q is not found", line)
		}
	}
}
