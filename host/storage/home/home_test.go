package home

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/storage"
)

const run = "00112233445566778899aabbccddeeff"

// at makes the directory of an experiment, unless it is there.
func at(t *testing.T, path string) storage.Dir {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "run.json"), []byte(`{"run_id":"`+run+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := storage.At(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func note(t *testing.T, d storage.Dir) *Home {
	t.Helper()
	h := Of(d, run)
	if err := h.Note(); err != nil {
		t.Fatal(err)
	}
	return h
}

func copied(t *testing.T, from storage.Dir, to string) storage.Dir {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from.Path())); err != nil {
		t.Fatal(err)
	}
	return at(t, to)
}

// A copy beside its original gets leases with names of its own, once and for all; those of others stay as they are.
func TestCopy(t *testing.T) {
	root := t.TempDir()
	first := at(t, filepath.Join(root, "first"))
	original := note(t, first)
	if err := os.MkdirAll(filepath.Join(first.Agents(), "leases"), 0o700); err != nil {
		t.Fatal(err)
	}
	second := copied(t, first, filepath.Join(root, "second"))
	h := Of(second, run)
	if !h.Copy() || !strings.Contains(h.About(), first.Path()) {
		t.Fatalf("no copy: %q", h.About())
	}
	if err := h.Part(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(second.Agents()); !os.IsNotExist(err) {
		t.Error("the copy keeps what the original's agents know it by")
	}
	again := Of(second, run)
	if again.Copy() || again.Prefix(run) != h.Prefix(run) || h.Prefix(run) == original.Prefix(run) {
		t.Errorf("%q, then %q; the original's is %q", h.Prefix(run), again.Prefix(run), original.Prefix(run))
	}
	if o := Of(first, run); o.Copy() || o.Prefix(run) != "th-0011223344556677-" {
		t.Errorf("the original: %q %s", o.About(), o.Prefix(run))
	}
	if third := Of(copied(t, second, filepath.Join(root, "third")), run); !third.Copy() {
		t.Error("a copy of a copy is one")
	}
}

// What is at another place because it was moved goes on as before, on another machine too if the file system is the
// same.
func TestMoved(t *testing.T) {
	root := t.TempDir()
	first := at(t, filepath.Join(root, "first"))
	note(t, first)
	apart := copied(t, first, filepath.Join(root, "apart"))
	moved := filepath.Join(root, "moved")
	if err := os.Rename(first.Path(), moved); err != nil {
		t.Fatal(err)
	}
	if h := Of(at(t, moved), run); h.Copy() {
		t.Error(h.About())
	}
	if h := Of(apart, run); h.Copy() { // its original is gone: it was moved to another file system
		t.Error(h.About())
	}
	foreign(t, apart)
	if h := Of(apart, run); !h.Copy() || !strings.Contains(h.About(), first.Path()+" on node7, which cannot be seen") {
		t.Errorf("it may be a copy: %q", h.About())
	}
	d := at(t, moved)
	foreign(t, d)
	if h := Of(d, run); h.Copy() {
		t.Error(h.About())
	}
}

// foreign makes the note one of another machine.
func foreign(t *testing.T, d storage.Dir) {
	t.Helper()
	h := Of(d, run)
	h.here = h.noted
	h.here.Machine, h.here.Host = "another", "node7"
	if err := h.write(); err != nil {
		t.Fatal(err)
	}
}

// The same path on another machine is another directory.
func TestSamePath(t *testing.T) {
	d := at(t, filepath.Join(t.TempDir(), "x"))
	note(t, d)
	h := Of(d, run)
	h.here.Inode++
	if err := h.write(); err != nil {
		t.Fatal(err)
	}
	if h := Of(d, run); h.Copy() {
		t.Error("a directory that was put back from a copy is the experiment's:", h.About())
	}
	foreign(t, d)
	if h := Of(d, run); !h.Copy() {
		t.Error("it may be a copy")
	}
}

// A note of another run says nothing, and one that cannot be read leaves all leases alone.
func TestNotes(t *testing.T) {
	d := at(t, filepath.Join(t.TempDir(), "x"))
	for text, copied := range map[string]bool{`{"run_id":"ff","dir":"/nowhere"}`: false, "{": true} {
		if err := os.WriteFile(d.Place(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if h := Of(d, run); h.Copy() != copied || copied != (h.About() != "") {
			t.Errorf("%s: %q", text, h.About())
		}
	}
	var none *Home
	if none.Copy() || none.Part() != nil || none.Note() != nil ||
		none.Prefix("0123456789ABCDEF00") != "th-0123456789abcdef-" {
		t.Error("no directory is a copy")
	}
}
