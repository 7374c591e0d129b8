package holding

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/storage"
)

// TestWithdraw: a host that has taken a directory, and has begun nothing there, leaves what it has found.
func TestWithdraw(t *testing.T) {
	o := &options.Options{Clock: clock.System{}}
	o.Mode.InProcess = true
	logged := func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "host.log"), []byte("[DEBUG] what"), 0o600)
	}
	for _, x := range []struct {
		name          string
		before, after func(dir string) error
		stays         bool
	}{
		{"nothing was there", nil, nil, false},
		{"the directory was there", func(dir string) error { return os.MkdirAll(dir, 0o700) }, nil, true},
		{"the experiment has begun", nil, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "experiment.yaml"), nil, 0o600)
		}, true},
		{"somebody has added a file", nil, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "notes"), nil, 0o600)
		}, true},
		{"somebody has added a trial", nil, func(dir string) error {
			return os.Mkdir(filepath.Join(dir, "trials", "0"), 0o700)
		}, true},
		{"the log has lines that the user does not need", nil, logged, false},
		{"the refusal names the log", nil, logged, true},
		{"the refusal names an empty log", nil, nil, false},
	} {
		root := t.TempDir()
		path := filepath.Join(root, "results", "e")
		dir, err := storage.At(path)
		if err == nil && x.before != nil {
			err = x.before(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		h, err := Take(dir, nil, o)
		if err == nil && x.after != nil {
			err = x.after(path)
		}
		if err != nil {
			t.Fatal(x.name, err)
		}
		refusal := "no"
		if strings.HasPrefix(x.name, "the refusal names") {
			refusal += "; its log: " + dir.Log()
		}
		h.Refused(errors.New(refusal))
		h.Close()
		_, err = os.Lstat(path)
		if there := err == nil; there != x.stays {
			t.Errorf("%s: the directory is there: %v, want %v", x.name, there, x.stays)
		}
		if _, err := os.Lstat(filepath.Dir(path)); err == nil && !x.stays {
			t.Errorf("%s: the folder that was made for it is still there", x.name)
		}
	}
}
