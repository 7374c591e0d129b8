package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ownNames are what a host reads and writes in an experiment's directory; TRIAL is the
// name of its first trial's.
var ownNames = []string{
	"LOCK", "host.log", ".crash.txt", "run.json", "run.json.tmp", "experiment.yaml", "experiment.yaml.tmp",
	"tunehost.lock", "tunehost.lock.tmp",
	"control", "control.tmp", "learned.jsonl", ".reported", ".reported.tmp", "journal",
	"journal/00000000000000000001.tj", "snapshots", "start",
	"checkpoints", "checkpoints/blobs", "trials", "trials/TRIAL", "trials/TRIAL/params.json",
	"trials/TRIAL/result.jsonl",
	"trials/TRIAL/progress.csv", "trials/TRIAL/error.txt", "trials/TRIAL/checkpoints",
	"trials/TRIAL/checkpoints/000001.tmp",
	"trials/TRIAL/stdout", "trials/TRIAL/stderr", "trials/TRIAL/params.json.tmp",
}

// ownFolders are those of them that a host expects to be folders.
var ownFolders = map[string]bool{"journal": true, "snapshots": true, "start": true, "checkpoints": true,
	"checkpoints/blobs": true, "trials": true,
	"trials/TRIAL": true, "trials/TRIAL/checkpoints": true, "trials/TRIAL/checkpoints/000001.tmp": true}

// placedThings are what somebody may put in the place of a file.
var placedThings = map[string]func(victim, path string) error{
	"link":      os.Symlink,
	"hard link": os.Link,
	"pipe":      func(_, path string) error { return syscall.Mkfifo(path, 0o600) },
	"nowhere":   func(victim, path string) error { return os.Symlink(victim+".new", path) },
}

const lineKept = "what the victim has written\n"

// Whatever somebody else has put in the place of a host's files, nothing outside of the
// experiment's directory is changed or made, and nothing waits; before an experiment is
// begun as well as before one continues.
func TestForeignLinks(t *testing.T) {
	for what, place := range placedThings {
		for _, name := range ownNames {
			for _, begun := range []bool{false, true} {
				if what == "hard link" && (ownFolders[name] || begun) {
					continue // of folders there are none, and what is begun is nobody else's to link to
				}
				t.Run(what+" "+strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
					t.Parallel()
					attacked(t, name, begun, place)
				})
			}
		}
	}
}

func attacked(t *testing.T, name string, begun bool, place func(victim, path string) error) {
	victim := filepath.Join(t.TempDir(), "victim")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if ownFolders[name] {
		must(os.Mkdir(victim, 0o700))
		must(os.WriteFile(filepath.Join(victim, "file"), []byte(lineKept), 0o600))
	} else {
		must(os.WriteFile(victim, []byte(lineKept), 0o600))
	}
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ncheckpoint: {every: 1}\nfailures: {retries: "+
		"1}\ntrials: 1\n"))
	o.TrustDir = true
	dir := filepath.Join(o.Storage, "test")
	if begun {
		finish(t, o)
		o.Sets = append(o.Sets, "trials=2")
	}
	path := filepath.Join(dir, strings.ReplaceAll(name, "TRIAL", firstTrial(t)))
	must(errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.RemoveAll(path), place(victim, path)))
	_, err := run(t.Context(), o)
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is not one line", err)
	}
	unharmed(t, victim)
	must(os.RemoveAll(o.Storage)) // it cannot be replayed now
}

// firstTrial is the name of the first trial's directory, which the seed says.
func firstTrial(t *testing.T) string {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ncheckpoint: {every: 1}\nfailures: {retries: "+
		"1}\ntrials: 1\n"))
	list, err := os.ReadDir(filepath.Join(finish(t, o).Dir, "trials"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list[0].Name()
}

func unharmed(t *testing.T, victim string) {
	t.Helper()
	if _, err := os.Lstat(victim + ".new"); err == nil {
		t.Errorf("a file was made behind the link")
	}
	err := filepath.WalkDir(filepath.Dir(victim), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || string(text) != lineKept || path != victim && path != filepath.Join(victim, "file") {
			t.Errorf("%s: %q %v", path, text, err)
		}
		return nil
	})
	if _, kept := os.Stat(victim); err != nil || kept != nil {
		t.Error(err, kept)
	}
	if _, gone := os.Stat(filepath.Join(victim, "file")); gone != nil && !errors.Is(gone, syscall.ENOTDIR) {
		t.Error(gone)
	}
}
