package runfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
)

// placed writes an experiment whose file is in its own directory, as that of a Tuner, and returns the directory.
func placed(t *testing.T, path string) storage.Dir {
	t.Helper()
	d, err := storage.At(path)
	if err != nil {
		t.Fatal(err)
	}
	source := []byte("version: 1\nname: first\nstorage: " + filepath.Dir(d.Path()) +
		"\nobjective: {metric: loss, mode: min}\nspace: {x: {uniform: [0, 1]}}\nsearcher: {plugin: " + d.Path() +
		"/own/s}\n")
	e, err := config.Parse(filepath.Join(d.Path(), "own", "x.yaml"), source, config.WithoutTrainable())
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(e, time.Unix(1, 0))
	if err = errors.Join(err, d.Create(), os.WriteFile(d.Experiment(), source, 0o600)); err == nil {
		err = r.Write(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What lay in the directory of an experiment is where the directory is now, also after the next move; the record says
// where it began.
func TestMovedDirectory(t *testing.T) {
	home := t.TempDir()
	first := placed(t, filepath.Join(home, "first"))
	text, err := os.ReadFile(Path(first))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second", "third"} {
		d, err := storage.At(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		if name != "first" {
			if err := os.Rename(first.Path(), d.Path()); err != nil {
				t.Fatal(err)
			}
			first = d
		}
		r, e, err := Read(d)
		if err != nil {
			t.Fatal(err)
		}
		own := filepath.Join(d.Path(), "own")
		if r.File != filepath.Join(own, "x.yaml") || e.Searcher.Name != filepath.Join(own, "s") {
			t.Errorf("in %s are %s and %s", d.Path(), r.File, e.Searcher.Name)
		}
		if again, err := r.Text(); err != nil || !bytes.Equal(again, text) {
			t.Errorf("%s is written for %s: %v", again, d.Path(), err)
		}
	}
}

// A link to the directory is no move.
func TestLinkedDirectory(t *testing.T) {
	home := t.TempDir()
	first := placed(t, filepath.Join(home, "first"))
	now := filepath.Join(home, "now")
	if err := errors.Join(os.Rename(first.Path(), now), os.Symlink(now, first.Path())); err != nil {
		t.Fatal(err)
	}
	d, err := storage.At(now)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := Read(d)
	if err != nil || r.File != filepath.Join(home, "first", "own", "x.yaml") {
		t.Errorf("%+v, %v", r, err)
	}
}
