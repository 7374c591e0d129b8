package remote_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/remote"
)

var leases = mirror.Timing{Renew: 50 * time.Millisecond, Expire: time.Minute}

// machine begins a machine, on which nothing is of the experiment.
func machine(t *testing.T) { t.Setenv("XDG_STATE_HOME", t.TempDir()) }

func attach(t *testing.T, url string, trust bool) (*remote.Storage, storage.Dir, error) {
	t.Helper()
	return attachWith(t, url, remote.Options{Timing: leases, TrustDir: trust, Tell: func(string) {}})
}

func attachWith(t *testing.T, url string, o remote.Options) (*remote.Storage, storage.Dir, error) {
	t.Helper()
	path, err := remote.WorkingDir(url)
	if err != nil {
		t.Fatal(err)
	}
	d, err := storage.At(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := remote.Attach(t.Context(), url, d, o)
	return r, d, err
}

// stored has a machine store an experiment with a checkpoint. Its host has ended.
func stored(t *testing.T) (url, path string) {
	t.Helper()
	machine(t)
	path = filepath.Join(t.TempDir(), "e")
	url = "file://" + path
	r, d, err := attach(t, url, false)
	do(t, err)
	trial := d.Trial("00000_a")
	do(t, d.MakeTrialDir(trial, []byte("{}")))
	staged, err := storage.Stage(trial, 1)
	do(t, err)
	do(t, os.WriteFile(filepath.Join(staged, "state"), []byte("weights"), 0o600))
	_, err = d.Commit(trial, 1, storage.Manifest{Iteration: 1})
	do(t, err)
	begin(t, r, d, "{}")
	return url, path
}

// begin begins an experiment, stores it and ends.
func begin(t *testing.T, r *remote.Storage, d storage.Dir, run string) {
	t.Helper()
	defer r.Close()
	files, err := journal.MakeDir(d.Journal())
	do(t, err)
	j, err := journal.Create(files, journal.Options{RunID: journal.RunID{1}})
	do(t, err)
	_, err = j.Append([][]byte{[]byte("text")})
	do(t, err)
	for name, text := range map[string]string{"run.json": run, "tunehost.lock": "{}", "experiment.yaml": "{}"} {
		do(t, os.WriteFile(filepath.Join(d.Path(), name), []byte(text), 0o600))
	}
	do(t, r.Start(j, mirror.Listener{Warn: func(string) {}, Lost: func(error) {}}))
	r.Finish(func(text string) { t.Error(text) })
	do(t, j.Close())
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// contentsOf are the files below a folder with their sums.
func contentsOf(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	do(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	}))
	return all
}

// B-080: a store that has lost the experiment's file, and perhaps others, is refused on another machine, and nothing
// there is changed: the record and the checkpoints were removed for a new experiment.
func TestStoreWithoutExperimentFile(t *testing.T) {
	for _, more := range [][]string{{}, {"run.json"}, {"run.json", "lease.json", "tunehost.lock"}, {"journal"},
		{"journal", "run.json"}, {"trials"}, {"blobs"}, {"lease.json"}} {
		url, path := stored(t)
		for _, name := range append([]string{"experiment.yaml"}, more...) {
			do(t, os.RemoveAll(filepath.Join(path, name)))
		}
		before := contentsOf(t, path)
		machine(t)
		_, d, err := attach(t, url, false)
		want := url + "/experiment.yaml is gone: put it back from a copy"
		if err == nil || !strings.Contains(err.Error(), want) || d.Exists() {
			t.Errorf("without %v: %v", more, err)
		}
		if after := contentsOf(t, path); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("without %v, there was\n%v, and there is\n%v", more, before, after)
		}
		if _, _, err := remote.Fetch(t.Context(), url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %v, read: %v", more, err)
		}
		list, err := mirror.Experiments(t.Context(), "file://"+filepath.Dir(path))
		if err != nil || len(list) != 1 || list[0] != url {
			t.Errorf("without %v, listed: %v, %v", more, list, err)
		}
	}
}

// The machine that has stored the experiment puts its file back, also if the lease is gone.
func TestExperimentFilePutBack(t *testing.T) {
	for _, more := range []string{"", "lease.json"} {
		url, path := stored(t)
		for _, name := range []string{"experiment.yaml", more} {
			if name != "" {
				do(t, os.Remove(filepath.Join(path, name)))
			}
		}
		r, d, err := attach(t, url, false)
		do(t, err)
		files, err := journal.MakeDir(d.Journal())
		do(t, err)
		j, _, err := journal.Open(files, journal.Options{}, func(uint64, [][]byte) error { return nil })
		do(t, err)
		do(t, r.Start(j, mirror.Listener{Warn: func(string) {}, Lost: func(error) {}}))
		r.Finish(func(text string) { t.Error(text) })
		r.Close()
		if _, err := os.Lstat(filepath.Join(path, "experiment.yaml")); err != nil {
			t.Errorf("without %s: %v", more, err)
		}
	}
}

// A machine with an older copy does not take the place of a store that is ahead and has lost its lease.
func TestLeaseGone(t *testing.T) {
	url, path := stored(t)
	old, err := remote.WorkingDir(url)
	do(t, err)
	record := filepath.Join(old, "journal", "00000000000000000001.tj")
	do(t, os.Truncate(record, 100))
	do(t, os.Remove(filepath.Join(path, "lease.json")))
	r, _, err := attach(t, url, false)
	do(t, err)
	defer r.Close()
	if info, err := os.Stat(record); err != nil || info.Size() <= 100 || !r.Fetched() {
		t.Errorf("%v, %v: it was not fetched", info, err)
	}
}

// B-092: a shared directory that others can write to is refused, unless the user trusts it, who is then warned: the
// experiment there says what runs.
func TestSharedDirectoryOfEverybody(t *testing.T) {
	for what, open := range map[string]string{"its own": ".", "its record": "journal", "its checkpoints": "blobs",
		"the storage": ".."} {
		url, path := stored(t)
		do(t, os.Chmod(filepath.Join(path, open), 0o777))
		before := contentsOf(t, path)
		machine(t)
		_, _, err := attach(t, url, false)
		if err == nil || !strings.Contains(err.Error(), "who could change what runs as you") ||
			!strings.Contains(err.Error(), "--trust-dir") {
			t.Errorf("%s: %v", what, err)
		}
		if after := contentsOf(t, path); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%s: there was\n%v, and there is\n%v", what, before, after)
		}
		r, _, err := attach(t, url, true)
		do(t, err)
		if len(r.Doubts()) != 1 {
			t.Errorf("%s: %v", what, r.Doubts())
		}
		r.Close()
	}
}

// B-092: so is one of another user, also by root. Root's own is anybody's to use.
func TestSharedDirectoryOfAnother(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root can give files to other users; run this as root")
	}
	for _, part := range []string{".", "journal", "trials", "blobs"} {
		url, path := stored(t)
		do(t, os.Chown(filepath.Join(path, part), 65534, 65534))
		machine(t)
		if _, _, err := attach(t, url, false); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
			t.Errorf("%s: %v", part, err)
		}
	}
}

// firstRound leaves what a machine leaves that is lost in its first round of copying: all but the experiment's file.
func firstRound(t *testing.T) (url, path string) {
	t.Helper()
	url, path = stored(t)
	do(t, os.Remove(filepath.Join(path, "experiment.yaml")))
	lease := filepath.Join(path, "lease.json")
	text, err := os.ReadFile(lease)
	do(t, err)
	beginning := strings.Replace(string(text), `"released":true`, `"released":true,"beginning":"process 7 on a"`, 1)
	do(t, os.WriteFile(lease, []byte(beginning), 0o600))
	do(t, os.WriteFile(filepath.Join(path, "learned.jsonl"), []byte("{}"), 0o600))
	return url, path
}

// B-080: what a host has left that died in its first round is no experiment: readers say so, and another machine begins
// in its place, and says that.
func TestFirstRoundTakenOver(t *testing.T) {
	url, path := firstRound(t)
	machine(t)
	_, _, err := remote.Fetch(t.Context(), url)
	if err == nil || !strings.Contains(err.Error(), "process 7 on a has begun an experiment here") {
		t.Errorf("read: %v", err)
	}
	r, d, err := attach(t, url, false)
	do(t, err)
	want := "process 7 on a died in its first round"
	if len(r.Doubts()) != 1 || !strings.Contains(r.Doubts()[0], want) || d.Exists() {
		t.Errorf("%v", r.Doubts())
	}
	r.Close() // it did not begin
	again, _, err := attach(t, url, false)
	do(t, err)
	if len(again.Doubts()) != 1 {
		t.Errorf("after one that did not begin: %v", again.Doubts())
	}
	begin(t, again, d, `{"run_id": "2"}`)
	for name, there := range map[string]bool{"experiment.yaml": true, "run.json": true, "learned.jsonl": false,
		"trials/00000_a/checkpoints/000001/MANIFEST.json": false} {
		if _, err := os.Lstat(filepath.Join(path, name)); there != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	lease, err := os.ReadFile(filepath.Join(path, "lease.json"))
	do(t, err)
	if strings.Contains(string(lease), "beginning") {
		t.Errorf("it has begun, and the lease is %s", lease)
	}
}

// B-059: the lease of a first round says that it is one, until all is there but the experiment's file.
func TestFirstRoundIsMarked(t *testing.T) {
	machine(t)
	path := filepath.Join(t.TempDir(), "e")
	r, _, err := attach(t, "file://"+path, false)
	do(t, err)
	defer r.Close()
	lease, err := os.ReadFile(filepath.Join(path, "lease.json"))
	do(t, err)
	if !strings.Contains(string(lease), fmt.Sprintf(`"beginning":"process %d on `, os.Getpid())) {
		t.Errorf("%s", lease)
	}
}

// The machine that died in its first round continues its own experiment.
func TestFirstRoundContinued(t *testing.T) {
	url, _ := firstRound(t)
	r, d, err := attach(t, url, false)
	do(t, err)
	defer r.Close()
	if !d.Exists() || len(r.Doubts()) > 0 {
		t.Errorf("%v", r.Doubts())
	}
}

// Another experiment in the place of a machine's own is refused, unless the user asks for it. Nothing is changed.
func TestAnotherInItsPlace(t *testing.T) {
	for name, lease := range map[string]bool{"put there by hand": false, "begun by another machine": true} {
		url, path := stored(t)
		dir, err := remote.WorkingDir(url)
		do(t, err)
		do(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"run_id": "1"}`), 0o600))
		do(t, os.WriteFile(filepath.Join(path, "run.json"), []byte(`{"run_id": "2"}`), 0o600))
		if lease {
			do(t, os.WriteFile(filepath.Join(path, "lease.json"), []byte(`{"owner": "b", "released": true}`), 0o600))
		}
		before, here := contentsOf(t, filepath.Join(path, "journal")), contentsOf(t, dir)
		_, _, err = attach(t, url, false)
		if err == nil || !strings.HasPrefix(err.Error(), url+" has another experiment than "+dir) {
			t.Errorf("%s: %v", name, err)
		}
		if now := contentsOf(t, filepath.Join(path, "journal")); fmt.Sprint(now) != fmt.Sprint(before) ||
			fmt.Sprint(contentsOf(t, dir)) != fmt.Sprint(here) {
			t.Errorf("%s: something was changed", name)
		}
		if read, done, err := remote.Fetch(t.Context(), url); err != nil || read == dir {
			t.Errorf("%s: read from %s, %v", name, read, err)
		} else {
			done()
		}
		told := ""
		r, _, err := attachWith(t, url, remote.Options{Resume: "remote", Timing: leases,
			Tell: func(text string) { told += text }})
		do(t, err)
		if aside, _ := filepath.Glob(dir + ".*"); len(aside) != 1 || !strings.Contains(told, aside[0]) || !r.Fetched() {
			t.Errorf("%s: %q, kept in %v", name, told, aside)
		}
		r.Close()
	}
}

// The command that lists what is there can be pasted, whatever the folder is called.
func TestNoneThere(t *testing.T) {
	machine(t)
	folder := filepath.Join(t.TempDir(), "runs$b")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	_, _, err := remote.Fetch(t.Context(), "file://"+folder+"/none/")
	if err == nil || !strings.Contains(err.Error(), "`tunehost ls 'file://"+folder+"'` lists") {
		t.Error(err)
	}
}

// A machine finds its working directory by any spelling of the URL, and one of an earlier version by its own.
func TestWorkingDirOfSpellings(t *testing.T) {
	machine(t)
	state := os.Getenv("XDG_STATE_HOME")
	folder := t.TempDir()
	url, other := "file://"+folder+"/a%20b", "file://"+folder+"//a b/"
	want, err := remote.WorkingDir(url)
	do(t, err)
	for range 2 {
		if got, err := remote.WorkingDir(other); err != nil || got != want {
			t.Errorf("%s, not %s: %v", got, want, err)
		}
		sum := sha256.Sum256([]byte(other)) // as earlier versions did
		earlier := filepath.Join(state, "tunehost", hex.EncodeToString(sum[:6]), "a b")
		do(t, os.MkdirAll(earlier, 0o700))
		want = earlier
	}
	if got, err := remote.WorkingDir(url); err != nil || got == want {
		t.Errorf("%s: %v", got, err)
	}
}

// Where the working directory cannot be made, the message says which setting is to blame.
func TestNoWorkingDirectory(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/proc/none")
	_, _, err := attach(t, "file://"+t.TempDir()+"/name", false)
	if err == nil || !strings.Contains(err.Error(), "set XDG_STATE_HOME to a folder that can be written to") {
		t.Error(err)
	}
}

// watched is a record that looks at what readers are told while it is copied.
type watched struct {
	*journal.Journal
	look func()
}

func (w watched) Tail() (string, int64) {
	w.look()
	return w.Journal.Tail()
}

// Readers are told of the last copy while it runs, and the next host waits for its end.
func TestLastCopyIsTold(t *testing.T) {
	machine(t)
	url := "file://" + filepath.Join(t.TempDir(), "e")
	r, d, err := attach(t, url, false)
	do(t, err)
	defer r.Close()
	files, err := journal.MakeDir(d.Journal())
	do(t, err)
	j, err := journal.Create(files, journal.Options{RunID: journal.RunID{1}})
	do(t, err)
	var mu sync.Mutex
	var told string
	var until time.Time
	record := watched{j, func() {
		mu.Lock()
		defer mu.Unlock()
		told, until = d.Leaving(time.Now()), d.LeavesBy(time.Now())
	}}
	for _, name := range []string{"run.json", "tunehost.lock", "experiment.yaml"} {
		do(t, os.WriteFile(filepath.Join(d.Path(), name), []byte("{}"), 0o600))
	}
	do(t, r.Start(record, mirror.Listener{Warn: func(string) {}, Lost: func(error) {}}))
	_, err = j.Append([][]byte{[]byte("text")})
	do(t, err)
	r.Finish(func(text string) { t.Error(text) })
	mu.Lock()
	defer mu.Unlock()
	if want := fmt.Sprintf("its host still copies the last of it to %q, for 1m0s more at most", url); told != want ||
		until.IsZero() {
		t.Errorf("%q until %v, want %q", told, until, want)
	}
	if left := d.Leaving(time.Now()); left != "" || !d.LeavesBy(time.Now()).IsZero() {
		t.Errorf("afterwards %q", left)
	}
	do(t, j.Close())
}
