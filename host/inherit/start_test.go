package inherit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
)

// B-054: a checkpoint whose files are in the storage of its experiment alone is fetched from there.
func TestStartsFromTheStorage(t *testing.T) {
	store, earlier := filepath.Join(t.TempDir(), "earlier"), dirAt(t)
	url := "file://" + filepath.ToSlash(store)
	trial := earlier.Trial("00001_a")
	from := t.TempDir()
	err := errors.Join(os.MkdirAll(trial, 0o700), os.MkdirAll(store, 0o700),
		os.WriteFile(filepath.Join(from, "weights"), []byte("w"), 0o600), mirror.Remember(earlier.Path(), url))
	if err != nil {
		t.Fatal(err)
	}
	node, err := mirror.OpenSeen(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	m := storage.Manifest{Trial: 1, Iteration: 7, Stored: "nodes/h/00001_a/000003-1-1"}
	if m.Files, err = node.Save(t.Context(), m.Stored, from, func() {}); err != nil {
		t.Fatal(err)
	}
	if _, err := earlier.CommitAway(trial, 3, m); err != nil {
		t.Fatal(err)
	}
	e := &config.Experiment{Restore: storage.CheckpointFiles(trial, 3)}
	if err := Restorable(e); err != nil {
		t.Errorf("before: %v", err)
	}
	d := dirAt(t)
	start, err := Start(e, d, true)
	if err != nil || start.Iteration != 7 {
		t.Fatalf("%+v, %v", start, err)
	}
	if text, err := os.ReadFile(filepath.Join(storage.FilesOf(StartDir(d)), "weights")); string(text) != "w" {
		t.Errorf("%q, %v", text, err)
	}
}

// B-054: a checkpoint that holds the experiment's directory, by whatever path, is refused before anything is copied,
// and one that cannot be copied leaves nothing.
func TestStartsOutside(t *testing.T) {
	work := t.TempDir()
	t.Chdir(work)
	link := filepath.Join(t.TempDir(), "link")
	bad := filepath.Join(work, "bad")
	err := errors.Join(os.Symlink(work, link), os.Mkdir(bad, 0o700), os.Symlink("gone", filepath.Join(bad, "model")))
	if err != nil {
		t.Fatal(err)
	}
	d, err := storage.At(filepath.Join(work, "results", "x"))
	if err := errors.Join(err, os.MkdirAll(d.Path(), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{".", "..", "/", work, link, "results", filepath.Join("results", "x"), bad} {
		e := &config.Experiment{Restore: from}
		e.Storage, e.Name = "results", "x"
		const itself = "and would be copied into itself"
		if err := Restorable(e); err == nil || from != bad && !strings.Contains(err.Error(), itself) {
			t.Errorf("%s: validate says %v", from, err)
		}
		if _, err := Start(e, d, true); err == nil || strings.Contains(err.Error(), itself) != (from != bad) {
			t.Errorf("%s: %v", from, err)
		}
		if list, err := os.ReadDir(d.Path()); err != nil || len(list) > 0 {
			t.Errorf("%s: it leaves %v, %v", from, list, err)
		}
	}
}

// B-054: what cannot be a checkpoint is refused before anything runs, in the words of the run that would refuse it.
func TestNoCheckpoint(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.MkdirAll(in("pipe/deep"), 0o700), syscall.Mkfifo(in("pipe/deep/p"), 0o600),
		os.MkdirAll(in("link"), 0o700), os.Symlink("/etc", in("link/x")),
		os.MkdirAll(in("cut/files"), 0o700), os.WriteFile(in("cut/MANIFEST.json"), []byte("{"), 0o600),
		os.MkdirAll(in("other/files"), 0o700), os.WriteFile(in("other/files/s"), []byte("x"), 0o600),
		os.WriteFile(in("other/MANIFEST.json"), []byte(`{"files": [{"path": "s", "bytes": 1, "sha256": "`+
			strings.Repeat("0", 64)+`"}]}`), 0o600),
		os.WriteFile(in("file"), nil, 0o600), os.MkdirAll(in("good/deep"), 0o700),
		os.WriteFile(in("good/deep/weights"), nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{in("pipe"): "pipe/deep/p is a pipe", in("link"): "link/x is a link",
		in("cut"): "is damaged", in("cut/files"): "is damaged", in("other"): "s was changed",
		in("file"): "is not a directory",
		in("none"): "is not a directory", "/dev": "may hold only plain files and folders", in("good"): ""} {
		e := &config.Experiment{Restore: from}
		e.Storage, e.Name = "results", "x"
		err := Restorable(e)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", from, err, want)
		}
		if err == nil {
			continue
		}
		if _, run := Start(e, dirAt(t), true); run == nil || run.Error() != err.Error() {
			t.Errorf("%s: a run says %v, and validate %v", from, run, err)
		}
	}
}

func dirAt(t *testing.T) storage.Dir {
	t.Helper()
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// B-054: a checkpoint of the last iteration is refused, and the message says how a program trains from it that counts
// anew: from a copy of its files, of which iterations begin at 1.
func TestNothingLeftToTrain(t *testing.T) {
	earlier := dirAt(t)
	trial := earlier.Trial("00001_a")
	err := os.MkdirAll(trial, 0o700)
	staged := ""
	if err == nil {
		staged, err = storage.Stage(trial, 3)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(staged, "weights"), []byte("w"), 0o600)
	}
	if err == nil {
		_, err = earlier.Commit(trial, 3, storage.Manifest{Trial: 1, Iteration: 7})
	}
	if err != nil {
		t.Fatal(err)
	}
	from, copied := storage.CheckpointFiles(trial, 3), filepath.Join(t.TempDir(), "pretrained")
	e := &config.Experiment{Restore: filepath.Dir(from)} // with the manifest
	e.Stop.Iteration = 7
	for _, err := range []error{Restorable(e), func() error { _, err := Start(e, dirAt(t), true); return err }()} {
		if err == nil || !strings.Contains(err.Error(), "set stop.iteration to more; or") ||
			!strings.Contains(err.Error(), "(cp -r "+from+" pretrained)") {
			t.Errorf("%v", err)
		}
	}
	if err := os.CopyFS(copied, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	e.Restore = copied
	if start, err := Start(e, dirAt(t), true); err != nil || start.Iteration != 0 {
		t.Errorf("of the copy: %+v, %v", start, err)
	}
}
