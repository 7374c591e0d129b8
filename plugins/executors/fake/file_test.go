package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// TestForeignFiles: a file that is no state of a cluster keeps its content and mode, and gets no files beside it.
func TestForeignFiles(t *testing.T) {
	for content, want := range map[string]string{
		`{}`:         "no state of a fake cluster",
		`null`:       "no state of a fake cluster",
		``:           "no state of a fake cluster",
		`{"lr": 12}`: "no state of a fake cluster",
		`{"format": "tunehost fake cluster", "version": 2}`:             "its version is 2",
		`{"format": "tunehost fake cluster", "version": 1, "owner": 3}`: `unknown field "owner"`,
		`{"format": "tunehost fake cluster", "version": 1} {}`:          "after top-level value",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "cluster.json")
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		notOpened(t, path, want)
		untouched(t, path, content)
		if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
			t.Errorf("%s: %v %v", content, names, err)
		}
	}
}

func notOpened(t *testing.T, path, want string) {
	t.Helper()
	err := open(t, path, "a-", `{}`).Adopt(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one line with %q", err, want)
	}
}

func untouched(t *testing.T, path, content string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || string(text) != content {
		t.Errorf("%q %v", text, err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o644 {
		t.Error(info, err)
	}
}

// TestLinks: a link is not replaced by a file, whether it is the state or its lock.
func TestLinks(t *testing.T) {
	for _, link := range []string{"cluster.json", "cluster.json.lock"} {
		dir := t.TempDir()
		if err := os.Symlink("elsewhere", filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		notOpened(t, filepath.Join(dir, "cluster.json"), link+" is a link: ")
		if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// TestOthersFile: a state file of another user stays as it is.
func TestOthersFile(t *testing.T) {
	d := begin(t, `{}`)
	before, err := os.ReadFile(d.State)
	d.must(err)
	geteuid = func() int { return os.Geteuid() + 1 }
	defer func() { geteuid = os.Geteuid }()
	notOpened(t, d.State, "belongs to another user: choose another file")
	if after, err := os.ReadFile(d.State); err != nil || !bytes.Equal(before, after) {
		t.Error(err)
	}
}

// TestNotRegular: a pipe or a device is refused at once. Opening it would wait, and a device has no end.
func TestNotRegular(t *testing.T) {
	notOpened(t, "/dev/full", "/dev/full is a special file: ")
	for _, name := range []string{"cluster.json", "cluster.json.lock"} {
		dir := t.TempDir()
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
		notOpened(t, filepath.Join(dir, "cluster.json"), name+" is a pipe: ")
	}
	notOpened(t, t.TempDir(), " is a folder: ")
}

// TestLocked: a lock that another process keeps is given up.
func TestLocked(t *testing.T) {
	d := begin(t, `{}`)
	lock, err := os.Open(d.State + ".lock")
	d.must(err)
	defer func() { _ = lock.Close() }()
	d.must(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	d.file.tries = 2
	if err := d.update(nil); err == nil || !strings.Contains(err.Error(), ".lock is locked by another process: ") {
		t.Error(err)
	}
}

// TestStateNames: the state is no file that tunehost uses itself, and no name that a terminal would obey.
func TestStateNames(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for state, allowed := range map[string]bool{
		"experiment.yaml": false, "journal": false, "run.json": false, "./run.json": false, "a/../run.json": false,
		"trials/x": false, "RUN.JSON": false, "tunehost": false, ".": false, "sub/": false,
		"a\x1b[2Jb": false, "a\x00": false,
		filepath.Join(dir, "journal"): false, filepath.Join(link, "journal"): false,
		"cluster.json": true, "../cluster.json": true, "../run.json": true, "journal.json": true, "": true,
		filepath.Join(link, "a"): true,
	} {
		o := options{State: state}
		if err := o.checkState(dir); (err == nil) != allowed {
			t.Errorf("%q: %v", state, err)
		} else if err != nil && (!strings.HasPrefix(err.Error(), `option "state" is `) ||
			strings.ContainsAny(err.Error(), "\n\x1b\x00")) {
			t.Errorf("%q: %q", state, err)
		}
	}
}

// TestOpenChecksState: the name is refused when the executor is opened.
func TestOpenChecksState(t *testing.T) {
	text, err := json.Marshal(map[string]string{"state": "run.json"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = Plugin.Open(sdk.Execution{Dir: t.TempDir(), Prefix: "a-"}, text, func(...sdk.LeaseEvent) {})
	if err == nil || !strings.Contains(err.Error(), `option "state" is "run.json"`) {
		t.Error(err)
	}
}

// TestDamagedState: a state that no cluster can have is refused in one line. It made the plugin panic or spin.
func TestDamagedState(t *testing.T) {
	lease := func(text string) string {
		return `"leases": {"a-1": {"request": {"Lease": "a-1", "Bundles": [[]]}, "prefix": "a-", ` + text + `}}`
	}
	for damaged, want := range map[string]string{
		`"leases": {"x": null}`: `lease "x": it is null`,
		`"leases": null`:        "is null",
		`"down": null`:          "is null",
		`"hosts": null`:         "is null",
		`"leases": {"b-1": {"request": {"Lease": "a-1"}, "stage": "waiting"}}`: `called "a-1"`,
		lease(`"stage": "gone"`):    `there is no stage "gone"`,
		lease(`"stage": "granted"`): "0 places for 1 bundles",
		lease(`"stage": "granted", "places": [{"node": 0}, {"node": 1}]`):  "2 places for 1 bundles",
		lease(`"stage": "granted", "places": [{"node": -1}]`):              "negative",
		lease(`"stage": "granted", "places": [{"node": 0, "gpus": [-1]}]`): "negative",
		lease(`"stage": "ending", "places": [{"node": 0}], "end": -5`):     "before 1970",
		lease(`"stage": "waiting", "asked": 9223372036854775807`):          "after 2116",
		`"now": -9223372036854775808`:                                      "before 1970",
		`"hosts": {"a-": 9223372036854775807}`:                             "after 2116",
		`"lost": {"next": -1}`:                                             "before 1970",
	} {
		path := filepath.Join(t.TempDir(), "cluster.json")
		text := `{"format": "tunehost fake cluster", "version": 1, ` + damaged + `}`
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		notOpened(t, path, "no state of a fake cluster (")
		notOpened(t, path, want)
		untouched(t, path, text)
	}
}
