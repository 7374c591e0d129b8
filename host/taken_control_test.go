package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// B-155: what has the name of the file that says where a host listens, and is none, stays.
func TestControlIsTaken(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: 1\n"))
	path := filepath.Join(finish(t, o).Dir, "control")
	o.Sets = append(o.Sets, "trials=2")
	for what, put := range map[string]func() error{
		"is a link": func() error { return os.Symlink("notes", path) },
		"has no address of a host: tunehost has a file of that name; move it " +
			"away": func() error { return os.WriteFile(path, []byte("mine\n"), 0o600) },
	} {
		if err := errors.Join(os.RemoveAll(path), put()); err != nil {
			t.Fatal(err)
		}
		contains(t, refused(t, o), path, what)
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	address := []byte("/tmp/tunehost-0/h000000/1/control\n")
	if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, address, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), o); err != nil {
		t.Errorf("after a host that was killed: %v", err)
	}
}

// What is no folder has modes that mean nothing: its user is told what it is.
func TestFolderIsLink(t *testing.T) {
	for _, name := range []string{"journal", "trials"} {
		o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: 1\n"))
		path := filepath.Join(finish(t, o).Dir, name)
		if err := errors.Join(os.Rename(path, path+".away"), os.Symlink(path+".away", path)); err != nil {
			t.Fatal(err)
		}
		o.Sets = append(o.Sets, "trials=2")
		contains(t, refused(t, o), path, "is a link and no directory of its own")
		if err := errors.Join(os.Remove(path), os.Rename(path+".away", path)); err != nil {
			t.Fatal(err)
		}
	}
}
