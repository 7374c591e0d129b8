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

// Folder is the variable with the folder of notes.
const Folder = "TUNEHOST_TESTED"

// A line of notes is a language, one of these, and for a skipped test its name and the reason.
const (
	tested  = "tested"
	skipped = "skipped"
)

// notes is the content of this test process's file.
var notes struct {
	sync.Mutex
	text string
}

// noteAtEnd notes that the language was tested, unless the test is skipped.
func noteAtEnd(t testing.TB, l Language) {
	t.Cleanup(func() {
		if !t.Skipped() {
			note(t, l, tested, "")
		}
	})
}

// note adds a line to the file of the test's package and replaces lines of earlier processes of the
// package. `go test` caches the result of a package while the files that it used are unchanged, and
// this file is one of them. So the notes belong to the results that `go test` reports, cached or
// new.
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

// write writes the notes to a file named after the package.
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

// Summary reports for each language whether it was tested, according to the notes in a folder.
// complete is false if something was not.
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

// state is the content of the notes for one language.
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
