package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Folder is the variable that names the folder of notes.
const Folder = "TUNEHOST_TESTED"

// A line of notes is a language, one of these, and where it is about a skipped test, its name and the reason.
const (
	tested  = "tested"
	skipped = "skipped"
)

// notes is the file of this test process, which has what was noted in it so far.
var notes struct {
	sync.Mutex
	text string
}

// noteAtEnd notes that the language was tested, unless the test is skipped after all.
func noteAtEnd(t testing.TB, l Language) {
	t.Cleanup(func() {
		if !t.Skipped() {
			note(t, l, tested, "")
		}
	})
}

// note adds a line to the file of the test's package. What an earlier process of the package wrote is replaced:
// `go test` keeps the result of a package as long as the files that it used are as it left them, and this one
// is among them. So the notes are those of the results that `go test` reports, kept or fresh.
func note(t testing.TB, l Language, what, why string) {
	t.Helper()
	dir := os.Getenv(Folder)
	if dir == "" {
		return
	}
	line := l.Name + "\t" + what + "\n"
	if what == skipped {
		line = fmt.Sprintf("%s\t%s\t%s\t%s\n", l.Name, what, t.Name(), why)
	}
	notes.Lock()
	defer notes.Unlock()
	if strings.Contains(notes.text, line) {
		return
	}
	notes.text += line
	if err := write(dir, notes.text); err != nil {
		t.Errorf("%s: %v", Folder, err)
	}
}

// write puts the notes in a file that is named after the package.
func write(dir, text string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	pkg, err := filepath.Rel(root(), here)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, strings.ReplaceAll(filepath.ToSlash(pkg), "/", "__")), []byte(text), 0o644)
}

// Summary says of each language whether it was tested, by the notes in a folder. complete is false where something
// was not.
func Summary(dir string) (text string, complete bool, err error) {
	of, err := gather(dir)
	if err != nil {
		return "", false, err
	}
	complete = true
	text = fmt.Sprintf("%-15s tested\n", "Go")
	for _, l := range Languages() {
		s := of[l.Name]
		if s == nil {
			s = &state{why: []string{"no test of it was run"}}
		}
		complete = complete && len(s.why) == 0
		text += fmt.Sprintf("%-15s %s\n", l.Name, s)
	}
	return text, complete, nil
}

// state is what the notes say of one language.
type state struct {
	tested bool
	count  int
	why    []string
}

func (s *state) String() string {
	why := strings.Join(s.why, "; ")
	switch {
	case len(s.why) == 0:
		return tested
	case s.tested:
		return fmt.Sprintf("tested IN PART: %d skipped: %s", s.count, why)
	}
	return "NOT TESTED: " + why
}

// gather reads the notes.
func gather(dir string) (map[string]*state, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	of := map[string]*state{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			add(of, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return of, nil
}

func add(of map[string]*state, fields []string) {
	s := of[fields[0]]
	if s == nil {
		s = &state{}
		of[fields[0]] = s
	}
	switch {
	case len(fields) == 2 && fields[1] == tested:
		s.tested = true
	case len(fields) == 4 && fields[1] == skipped:
		s.count++
		if !slices.Contains(s.why, fields[3]) {
			s.why = append(s.why, fields[3])
		}
	}
}
