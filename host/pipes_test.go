package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// An experiment file that is a named pipe is refused: nobody may ever write to it. What a
// shell hands over as a descriptor is read.
func TestExperimentFromPipes(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: 1\n"))
	text, err := os.ReadFile(o.File)
	if err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(t.TempDir(), "named.yaml")
	if err := syscall.Mkfifo(named, 0o600); err != nil {
		t.Fatal(err)
	}
	o.File, o.Name = named, "piped"
	contains(t, refused(t, o), named+": found a pipe or a socket")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	o.File = "/dev/fd/" + strconv.Itoa(int(r.Fd()))
	if ended := finish(t, o); ended.Errored > 0 {
		t.Errorf("%+v", ended)
	}
}

// Waiting for the rest of an experiment file can be interrupted.
func TestReadingIsInterrupted(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: 1\n"))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	o.File, o.Name = "/dev/fd/"+strconv.Itoa(int(r.Fd())), "piped"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A storage that cannot be is named, and what is in its way.
func TestStorageBelowAFile(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: 1\n"))
	for _, path := range []string{"/dev/null/x", "/dev/null"} {
		o.Storage = path
		_, err := run(t.Context(), o)
		if _, ok := errors.AsType[*UserError](err); !ok {
			t.Fatalf("%v is not a mistake of the user's", err)
		}
		text := err.Error()
		contains(t, text, path, "/dev/null is not a directory; choose another with --storage")
		if strings.Contains(text, "\n") {
			t.Errorf("%q is not one line", text)
		}
	}
}
