package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/storage/runtimedir"
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
}

// B-155: what a host left that was killed is replaced, also after a power cut has damaged it.
func TestControlIsLeft(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: 1\n"))
	dir := finish(t, o).Dir
	path := filepath.Join(dir, "control")
	const address = "/elsewhere/tunehost-0/hpn9big/1/control\n"
	for i, text := range []string{address, "", "\x00\x00\x00", address[:24], address[:28], address[:33],
		"\xff" + address[1:], address + "\xff\x00garbage\n", runtimedir.Roots()[0][:3]} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		wellExamined(t, dir, o.Plugins)
		o.Sets = []string{fmt.Sprintf("trials=%d", i+2)}
		if _, err := run(t.Context(), o); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%q: it is still there: %v", text, err)
		}
	}
	o.Sets = nil
	for _, text := range []string{"mine\n", "see /opt/tunehost/README\n", "/etc/passwd\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if bad := badlyExamined(t, dir, o.Plugins); !strings.HasPrefix(bad, "files: "+path+" has no address") {
			t.Errorf("%q: doctor says %q", text, bad)
		}
		contains(t, refused(t, o), path, "has no address of a host")
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
