package journal_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
	"github.com/tunehost/tunehost/internal/toolchain"
)

var rewrite = flag.Bool("rewrite", false, "write the expected outputs in testdata anew, and golden journals that are "+
	"missing")

// goldens are the committed journals of the newest format, and how to create them. Those of older
// formats stay in testdata unchanged.
var goldens = []struct {
	name string
	make func(t testing.TB) *journaltest.FS
}{
	{"closed", func(t testing.TB) *journaltest.FS { return small(t, true) }},
	{"killed", func(t testing.TB) *journaltest.FS { return small(t, false) }},
	{"torn", func(t testing.TB) *journaltest.FS {
		return alterLast(t, func(b []byte) []byte { return b[:len(b)-30] })
	}},
	{"bit-flipped", func(t testing.TB) *journaltest.FS {
		return alterLast(t, func(b []byte) []byte { b[marks(b)[0].offset+50] ^= 4; return b })
	}},
	{"newer", func(t testing.TB) *journaltest.FS {
		return alterLast(t, func(b []byte) []byte { return edit(b, 8, 2) })
	}},
	{"segment-missing", func(t testing.TB) *journaltest.FS {
		fs := small(t, true)
		fs.Delete(fs.Names()[2])
		return fs
	}},
	{"empty", func(t testing.TB) *journaltest.FS {
		fs := journaltest.New(1)
		must(t, mustCreate(t, fs).Close())
		return fs
	}},
}

func alterLast(t testing.TB, change func([]byte) []byte) *journaltest.FS {
	fs := small(t, false)
	name := fs.Names()[len(fs.Names())-1]
	fs.WriteBytes(name, change(fs.ReadBytes(name)))
	return fs
}

// Journals of each format version, intact and damaged, give the same events as before.
func TestGoldenJournals(t *testing.T) {
	if *rewrite {
		for _, g := range goldens {
			saveIfMissing(t, filepath.Join("testdata", "v1", g.name), g.make(t))
		}
	}
	var got strings.Builder
	for _, path := range goldenDirs(t) {
		fmt.Fprintf(&got, "%s %s\n", filepath.ToSlash(path), outcome(load(t, path)))
	}
	compareFile(t, "testdata/golden.txt", got.String())
}

// Creating the journals of the newest format gives the committed bytes.
func TestGoldenBytes(t *testing.T) {
	for _, g := range goldens {
		if snapshot(g.make(t)) != snapshot(load(t, filepath.Join("testdata", "v1", g.name))) {
			t.Errorf("%s: other bytes: is this a new format version?", g.name)
		}
	}
}

func goldenDirs(t testing.TB) []string {
	paths, err := filepath.Glob("testdata/v*/*")
	must(t, err)
	if len(paths) < len(goldens) {
		t.Fatalf("only %d golden journals", len(paths))
	}
	return paths
}

// outcome returns what the Python reader also prints: number of events, digest, and how the journal
// ends.
func outcome(fs *journaltest.FS) string {
	var all [][]byte
	opened, err := journal.Verify(fs, journal.Options{}, collect(&all))
	return fmt.Sprintf("%d %s %s", len(all), digest(all), ending(opened, err))
}

func ending(opened journal.Opened, err error) string {
	var corrupt *journal.CorruptError
	var newer *journal.NewerFormatError
	switch {
	case errors.As(err, &newer):
		return "newer " + newer.File
	case errors.Is(err, journal.ErrWrongRun):
		return "damaged header"
	case errors.As(err, &corrupt) && corrupt.Offset < 64 && !strings.Contains(corrupt.Reason, " is missing"):
		return fmt.Sprintf("damaged %s header", corrupt.File)
	case corrupt != nil:
		return fmt.Sprintf("damaged %s %d", corrupt.File, corrupt.Offset)
	case err != nil:
		return err.Error()
	case opened.Cut != nil:
		return fmt.Sprintf("cut %s %d", opened.Cut.File, opened.Cut.Offset)
	case opened.Clean:
		return "clean"
	}
	return "unclean"
}

func saveIfMissing(t testing.TB, path string, fs *journaltest.FS) {
	if _, err := os.Stat(path); err == nil {
		return
	}
	must(t, os.MkdirAll(path, 0o755))
	for _, name := range fs.Names() {
		must(t, os.WriteFile(filepath.Join(path, name), fs.ReadBytes(name), 0o644))
	}
}

func load(t testing.TB, path string) *journaltest.FS {
	fs := journaltest.New(1)
	entries, err := os.ReadDir(path)
	must(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(path, e.Name()))
		must(t, err)
		fs.WriteBytes(e.Name(), b)
	}
	return fs
}

func compareFile(t testing.TB, path, got string) {
	t.Helper()
	if *rewrite {
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if got != string(want) {
		t.Errorf("%s differs (go test ./core/journal -rewrite):\n%s", path, got)
	}
}

// A reader in another language, written from the package comment, reads the same from golden and
// damaged journals.
func TestPythonReader(t *testing.T) {
	python := toolchain.Need(t, toolchain.Python)
	paths := append(goldenDirs(t), damagedDirs(t)...)
	out, err := exec.Command(python, append([]string{"testdata/read_journal.py"}, paths...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(paths) {
		t.Fatalf("%d lines for %d journals: %s", len(lines), len(paths), out)
	}
	for i, path := range paths {
		if want := path + " " + outcome(load(t, path)); lines[i] != want {
			t.Errorf("python: %s\n    go: %s", lines[i], want)
		}
	}
}

// damagedDirs creates journals with one wrong bit or truncated, spread over all bytes.
func damagedDirs(t *testing.T) (paths []string) {
	base := t.TempDir()
	for n := range 120 {
		fs := small(t, n%2 == 0)
		name := fs.Names()[n%len(fs.Names())]
		b := fs.ReadBytes(name)
		if at := n * 7919 % len(b); n%3 == 0 {
			b = b[:at]
		} else {
			b[at] ^= 1 << (n % 8)
		}
		fs.WriteBytes(name, b)
		paths = append(paths, filepath.Join(base, fmt.Sprint(n)))
		saveIfMissing(t, paths[n], fs)
	}
	return paths
}
