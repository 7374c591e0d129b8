package host

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/inherit"
	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/remote"
	"github.com/tunehost/tunehost/host/validate/examine"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/trainables/digits"
)

// B-059: a host that is given the path of an experiment's copy in a shared directory refuses it, and changes nothing.
func TestCopyIsOpenedByPath(t *testing.T) {
	shared := t.TempDir()
	machine(t)
	o, _ := elsewhere(t, "file://"+shared, saving)
	finish(t, o)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(shared, link); err != nil {
		t.Fatal(err)
	}
	before := tree(t, shared)
	for _, lost := range []bool{false, true} {
		if lost { // the experiment's file
			if err := os.Remove(filepath.Join(shared, "test", "experiment.yaml")); err != nil {
				t.Fatal(err)
			}
			before = tree(t, shared)
		}
		for _, by := range []string{shared, link} {
			for what, open := range openers(t, o, by) {
				err := open(filepath.Join(by, "test"))
				if err == nil {
					t.Fatalf("%s of %s", what, by)
				}
				contains(t, err.Error(), "write its URL in place of the path, file://"+shared+"/test, or --storage "+
					"file://"+shared+" for `tunehost run`")
			}
		}
		if now := tree(t, shared); now != before {
			t.Errorf("the storage was changed:\n%s\nwas:\n%s", now, before)
		}
	}
}

// openers are the ways to open the experiment in a folder by its path.
func openers(t *testing.T, o Options, folder string) map[string]func(string) error {
	t.Helper()
	machine(t)
	return map[string]func(string) error{
		"resume": func(path string) error {
			p, err := prepare.FromDir(t.Context(), path, &o)
			if err == nil {
				p.Close()
			}
			return err
		},
		"run": func(string) error {
			o.Storage = folder
			_, err := run(t.Context(), o)
			return err
		},
		"status": func(path string) error {
			_, err := view.Open(path)
			return err
		},
		"learn": func(path string) error {
			return inherit.Learnable(&config.Experiment{LearnFrom: []string{path}})
		},
		"doctor": func(path string) error {
			_, err := examine.Directory(path, o.Plugins)
			return err
		},
	}
}

// tree is what is in a folder: names, sizes and times.
func tree(t *testing.T, folder string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.Mode(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Trials of an experiment in a storage cannot be learned from, and the message says so.
func TestLearnByURL(t *testing.T) {
	o, _ := quick(t, saving, digits.Plugin)
	o.Sets = []string{"learn_from=[file:///mnt/other]"}
	contains(t, refused(t, o), "learn_from: file:///mnt/other: this is a URL, expected the directory")
	contains(t, inherit.Learnable(&config.Experiment{LearnFrom: []string{"s3://b/e"}}).Error(), "this is a URL")
}

// B-059: a host that is given the URL of an experiment's own directory refuses it, and changes nothing there.
func TestOwnDirectoryIsOpenedByURL(t *testing.T) {
	state := machine(t)
	o, _ := elsewhere(t, filepath.Join(t.TempDir(), "results"), saving)
	dir := finish(t, o).Dir
	before := tree(t, filepath.Dir(dir))
	url := "file://" + filepath.Dir(dir)
	byURL := o
	byURL.Storage = url
	_, _, reading := remote.Fetch(t.Context(), mirror.Join(url, "test"))
	for _, err := range []error{fmt.Errorf("%s", refused(t, byURL)), reading} {
		if err == nil {
			t.Fatal("it is read")
		}
		contains(t, err.Error(), dir+" is an experiment's own directory", "write its path in place of the URL")
	}
	if now := tree(t, filepath.Dir(dir)); now != before {
		t.Errorf("the directory was changed:\n%s\nwas:\n%s", now, before)
	}
	if now := tree(t, state); strings.Count(now, "\n") != 1 {
		t.Errorf("a working directory is left:\n%s", now)
	}
}

// B-059: the storage is never the working directory, also by another path.
func TestWorkingDirectoryIsTheStorage(t *testing.T) {
	shared := t.TempDir()
	machine(t)
	o, _ := elsewhere(t, "file://"+shared, saving)
	dir, err := remote.WorkingDir(mirror.Join(o.Storage, "test"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{shared, filepath.Join(shared, "test"), filepath.Join(shared, "test", "inside")} {
		if err := os.MkdirAll(filepath.Dir(filepath.Dir(dir)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(target, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Dir(dir)); err != nil {
			t.Fatal(err)
		}
		before := tree(t, shared)
		contains(t, refused(t, o), "overlaps")
		if now := tree(t, shared); now != before {
			t.Errorf("the storage was changed:\n%s\nwas:\n%s", now, before)
		}
		if err := os.Remove(filepath.Dir(dir)); err != nil {
			t.Fatal(err)
		}
	}
}

// A machine that has only the URL finds which checkpoint the best trial has, and fetches it once.
func TestCheckpointByURL(t *testing.T) {
	url := "file://" + t.TempDir()
	machine(t)
	o, _ := elsewhere(t, url, saving)
	finish(t, o)
	machine(t)
	url = mirror.Join(url, "test")
	dir, done, err := remote.Fetch(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	e, err := view.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.Elsewhere(func(part string) string { return mirror.Join(url, part) })
	best, _, err := e.Best(view.Query{})
	if err != nil || best.Checkpoint != "" || best.Away == "" || best.CheckpointAt != best.Iteration {
		t.Fatalf("%+v, %v", best, err)
	}
	if x := e.Trial(best.Number); x.Checkpoint != "" || x.CheckpointAt == 0 {
		t.Errorf("%+v", x)
	}
	part, err := filepath.Rel(e.Dir.Path(), filepath.Dir(best.Away))
	if err != nil {
		t.Fatal(err)
	}
	var before string
	for range 2 {
		files, err := remote.FetchCheckpoint(t.Context(), url, part)
		if err == nil {
			_, err = storage.CheckCheckpoint(filepath.Dir(files), true)
		}
		if err != nil {
			t.Fatal(err)
		}
		now := tree(t, filepath.Dir(files))
		if before != "" && now != before {
			t.Errorf("it was fetched again:\n%s\nwas:\n%s", now, before)
		}
		before = now
	}
	_, err = remote.FetchCheckpoint(t.Context(), url, part+"9")
	if err == nil {
		t.Fatal("a checkpoint that is not there was fetched")
	}
	contains(t, err.Error(), "the checkpoint was deleted")
}

// Of two flags with the storage none is ignored silently.
func TestStorageTwice(t *testing.T) {
	o, _ := quick(t, saving, digits.Plugin)
	o.Sets = []string{"storage=elsewhere"}
	contains(t, refused(t, o), "--storage "+o.Storage+" and --set storage=elsewhere: both say where the results are")
}
