package mirror

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/plainfile"
)

// tree returns the files in a directory, with their text.
func tree(t *testing.T, dir directory) (files map[string]string) {
	t.Helper()
	files = map[string]string{}
	objects, err := dir.list(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		text, err := os.ReadFile(filepath.Join(string(dir), o.key))
		if err != nil || int64(len(text)) != o.size {
			t.Errorf("%s: %q, %d bytes, %v", o.key, text, o.size, err)
		}
		files[o.key] = string(text)
	}
	return files
}

// failing ends with an error after some text.
func failing(text string) io.Reader {
	return io.MultiReader(strings.NewReader(text), errReader{})
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("the source fails") }

// B-059: an object of a shared directory is there whole or not at all, and a new one replaces none.
func TestWholeOrNot(t *testing.T) {
	t.Parallel()
	d, err := openDirectory(filepath.Join(t.TempDir(), "shared", "name"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string, isNew bool) error {
		return d.write(t.Context(), "a/b", strings.NewReader(text), isNew)
	}
	if err := write("one", true); err != nil {
		t.Error(err)
	}
	if err := write("two", true); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a new object that exists: %v", err)
	}
	if err := d.write(t.Context(), "a/b", failing("thr"), false); err == nil {
		t.Error("the source fails, and nobody says so")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := d.write(ended, "a/b", strings.NewReader("four"), false); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody wants it any more: %v", err)
	}
	if got := tree(t, d); len(got) != 1 || got["a/b"] != "one" {
		t.Errorf("%q", got)
	}
	if err := write("five", false); err != nil {
		t.Error(err)
	}
	if got := tree(t, d); len(got) != 1 || got["a/b"] != "five" {
		t.Errorf("%q", got)
	}
}

// Names come from manifests, which somebody else may have written.
func TestKeysStayInside(t *testing.T) {
	t.Parallel()
	d, err := openDirectory(filepath.Join(t.TempDir(), "inside"))
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(filepath.Dir(string(d)), "outside")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"../outside", "a/../../outside", outside, ""} {
		_, opened := d.open(t.Context(), key)
		_, looked := d.changed(t.Context(), key)
		for _, err := range []error{opened, looked, d.delete(t.Context(), key),
			d.write(t.Context(), key, strings.NewReader("theirs"), false)} {
			if err == nil {
				t.Errorf("%q is taken", key)
			}
		}
	}
	if text, err := os.ReadFile(outside); string(text) != "mine" {
		t.Errorf("%q %v", text, err)
	}
}

// Listings have the order of keys, which is not that of folders, and only what begins with a prefix.
func TestListing(t *testing.T) {
	t.Parallel()
	d, err := openDirectory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a/1", "a.b", "a/2/x", "b/1", "run.json"} {
		if err := d.write(t.Context(), key, strings.NewReader(key), false); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string][]string{
		"":  {"a.b", "a/1", "a/2/x", "b/1", "run.json"},
		"a": {"a.b", "a/1", "a/2/x"}, "a/": {"a/1", "a/2/x"}, "run.json": {"run.json"}, "none/": nil} {
		objects, err := d.list(t.Context(), prefix)
		var keys []string
		for _, o := range objects {
			keys = append(keys, o.key)
		}
		if err != nil || !slices.Equal(keys, want) {
			t.Errorf("%q: %q, %v", prefix, keys, err)
		}
	}
	if got, err := d.folders(t.Context()); err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q %v", got, err)
	}
}

// What killed writers left is not listed, and goes once nobody can still be writing it. Files of others stay.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	d, err := openDirectory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	old := plainfile.Temporary(filepath.Join(string(d), "blobs", "a"))
	late := plainfile.Temporary(filepath.Join(string(d), "b"))
	mine := filepath.Join(string(d), "blobs", "mine.tmp")
	if err := os.Mkdir(filepath.Dir(old), 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for path, at := range map[string]time.Time{old: now.Add(-time.Hour), late: now, mine: now.Add(-time.Hour)} {
		if err := errors.Join(os.WriteFile(path, []byte("half"), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if got := tree(t, d); len(got) != 1 || got["blobs/mine.tmp"] == "" {
		t.Errorf("%q", got)
	}
	d.tidy(t.Context(), now.Add(-time.Minute))
	directory(filepath.Join(string(d), "gone")).tidy(t.Context(), now) // nothing to read there, and no panic
	for path, want := range map[string]bool{old: false, late: true, mine: true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// What is not there has the same error everywhere.
func TestNothingThere(t *testing.T) {
	t.Parallel()
	d, err := openDirectory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(string(d), "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "a/b", "folder"} {
		if _, err := d.changed(t.Context(), key); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := d.open(t.Context(), "a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := d.delete(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
