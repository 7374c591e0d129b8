package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/compose"
	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/replay"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/remote"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/trainables/digits"
)

// elsewhere is an experiment with its storage in a shared directory, on a machine
// of its own: nothing else is there of it.
func elsewhere(t *testing.T, url, text string, more ...any) (Options, *testplace.Screen) {
	t.Helper()
	o, seen := quick(t, text, append([]any{digits.Plugin}, more...)...)
	o.Storage, o.Verbose = url, 1
	o.Mode.Leases = mirror.Timing{Renew: 50 * time.Millisecond, Expire: time.Minute}
	return o, seen
}

// machine begins a machine: its working directories.
func machine(t *testing.T) string {
	t.Helper()
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	return state
}

const saving = `
version: 1
seed: 5
objective: {metric: accuracy, mode: max}
trainable: {plugin: digits}
space: {epochs: 4, lr: {loguniform: [0.01, 0.1]}}
checkpoint: {every: 1, keep: 2}
export: json
trials: 3
`

// B-059, B-082: another machine finds the experiment with its checkpoints and
// exports, and continues with more of it; the first one finds what that has added.
func TestStorageElsewhere(t *testing.T) {
	url := "file://" + t.TempDir()
	first := machine(t)
	o, seen := elsewhere(t, url, saving)
	for mode, says := range map[string]string{
		"remote": "there is no experiment to resume (--resume remote); leave --resume out to start one",
		"local":  "this machine has no copy to resume (--resume local)",
	} {
		nothing := o
		nothing.Resume = mode
		contains(t, refused(t, nothing), says)
	}
	ended := finish(t, o)
	if !strings.HasPrefix(ended.Dir, first) {
		t.Errorf("it is in %s\n%s", ended.Dir, seen)
	}
	want := wholeIn(t, ended.Dir)

	machine(t)
	o, seen = elsewhere(t, url, strings.Replace(saving, "trials: 3", "trials: 5", 1))
	o.Resume = "remote"
	there := finish(t, o)
	if m := audit(t, there.Dir, nil); m.Count(core.Terminated) != 5 || there.Dir == ended.Dir {
		t.Errorf("%d trials, in %s\n%s", m.Count(core.Terminated), there.Dir, seen)
	}
	if beside, err := filepath.Glob(there.Dir + ".*"); err != nil || beside != nil || strings.Contains(seen.String(),
		"kept in") {
		t.Errorf("a machine without a copy has kept one: %v, %v\n%s", beside, err, seen)
	}
	got := wholeIn(t, there.Dir)
	for path := range want {
		if !got[path] {
			t.Errorf("%s is not there", path)
		}
	}
	if err := replay.Check(t.Context(), there.Dir, o.Plugins); err != nil {
		t.Error(err)
	}

	t.Setenv("XDG_STATE_HOME", first)
	o.Resume = "local"
	contains(t, refused(t, o), "another machine has continued it since")
	o.Resume = "auto"
	if m := audit(t, finish(t, o).Dir, nil); m.Trials() != 5 {
		t.Errorf("%d trials on the first machine", m.Trials())
	}
	fetchedNothing(t, url, first)
	fetched(t, url)
}

// fetchedNothing: where this machine was the last to run it, its working directory is read,
// also by a path that has links.
func fetchedNothing(t *testing.T, url, state string) {
	t.Helper()
	link := filepath.Join(t.TempDir(), "state")
	if err := os.Symlink(state, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", link)
	dir, done, err := remote.Fetch(t.Context(), mirror.Join(url, "test"))
	if err != nil {
		t.Fatal(err)
	}
	done()
	if !strings.HasPrefix(dir, link) {
		t.Errorf("a copy was made in %s", dir)
	}
}

// wholeIn are the checkpoints and exports of an experiment, each checked.
func wholeIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, pattern := range []string{"checkpoints/00*", "export/json"} {
		list, err := filepath.Glob(filepath.Join(dir, "trials", "*", filepath.FromSlash(pattern)))
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %v, %v", pattern, list, err)
		}
		for _, x := range list {
			if _, err := storage.CheckCheckpoint(x, true); err != nil {
				t.Error(err)
			}
			rel, err := filepath.Rel(dir, x)
			if err != nil {
				t.Fatal(err)
			}
			found[rel] = true
		}
	}
	return found
}

// fetched reads the experiment as commands do, on a machine that has nothing of it.
func fetched(t *testing.T, url string) {
	t.Helper()
	machine(t)
	dir, done, err := remote.Fetch(t.Context(), mirror.Join(url, "test"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := view.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := e.Now().Machine.Trials(); n != 5 {
		t.Errorf("%d trials are read", n)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	done()
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", dir, err)
	}
	_, _, err = remote.Fetch(t.Context(), mirror.Join(url, "other"))
	if err == nil {
		t.Fatal("an experiment that is not there is read")
	}
	contains(t, err.Error(), "there is no experiment here")
}

// B-059, B-084: a trial continues from its checkpoint on another machine, where the
// first one is lost in the middle.
func TestMachineIsLost(t *testing.T) {
	url := "file://" + t.TempDir()
	machine(t)
	ctx, lose := context.WithCancel(t.Context())
	defer lose()
	o, seen := elsewhere(t, url, strings.Replace(saving, "digits}", "losing}", 1), losing(lose))
	if ended, err := run(ctx, o); err != nil || ended.Outcome != core.InterruptedByUser {
		t.Fatalf("%+v, %v\n%s", ended, err, seen)
	}
	machine(t)
	o, seen = elsewhere(t, url, strings.Replace(saving, "digits}", "losing}", 1), losing(nil))
	ended := finish(t, o)
	m := audit(t, ended.Dir, nil)
	if m.Count(core.Terminated) != 3 {
		t.Errorf("%d trials ended\n%s", m.Count(core.Terminated), seen)
	}
	if v := m.View(0); v.Attempt < 2 || v.Results != 4 {
		t.Errorf("%+v", v)
	}
}

// B-059: a storage that was moved is found where it is now, also from the working directory, and the old place is not
// touched.
func TestStorageIsMoved(t *testing.T) {
	machine(t)
	old, now := t.TempDir(), filepath.Join(t.TempDir(), "moved")
	o, _ := elsewhere(t, "file://"+old, saving)
	finish(t, o)
	if err := os.CopyFS(now, os.DirFS(old)); err != nil {
		t.Fatal(err)
	}
	before := tree(t, old)
	moved, seen := elsewhere(t, "file://"+now, strings.Replace(saving, "trials: 3", "trials: 4", 1))
	dir := finish(t, moved).Dir
	p, err := prepare.FromDir(t.Context(), dir, &moved)
	if err != nil {
		t.Fatal(err)
	}
	if url := p.Remote.URL(); url != "file://"+now+"/test" || strings.Contains(seen.String(), "change of storage") {
		t.Errorf("%s is found at %s\n%s", dir, url, seen)
	}
	p.Close()
	if tree(t, old) != before {
		t.Error("the old place was changed")
	}
}

// losing trains 4 iterations; with lose it calls that at the third of the first
// trial.
func losing(lose func()) sdk.TrainablePlugin {
	return sdk.TrainablePlugin{
		Info: sdk.Info{Name: "losing", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
				for i := run.Trial().Iteration + 1; i <= 4; i++ {
					if lose != nil && i == 3 {
						lose()
					}
					save := func(dir string) error {
						return os.WriteFile(filepath.Join(dir, "state"), []byte{byte(i)},
							0o600)
					}
					if err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "accuracy", Value: float64(i)}},
						Iteration: i}, save); err != nil {
						return err
					}
				}
				return nil
			}), sdk.TrainableTraits{Saves: true}, nil
		},
	}
}

// What cannot be is said before anything starts.
func TestStorageElsewhereMistakes(t *testing.T) {
	machine(t)
	url := "file://" + t.TempDir()
	for resume, want := range map[string]string{
		"local":  "this machine has no copy to resume",
		"remote": "there is no experiment to resume (--resume remote)",
	} {
		o, _ := elsewhere(t, url, saving)
		o.Resume = resume
		contains(t, refused(t, o), want)
	}
	o, _ := elsewhere(t, "azblob://container", saving)
	contains(t, refused(t, o), "built without the client for azblob://")
}

// B-085: from the first look at the storage to the end, nobody else gets the working
// directory, and nothing keeps it afterwards.
func TestStorageElsewhereIsLockedThroughout(t *testing.T) {
	machine(t)
	o, _ := elsewhere(t, "file://"+t.TempDir(), saving)
	held := func(what string, want bool) {
		t.Helper()
		dir, err := remote.WorkingDir(mirror.Join(o.Storage, "test"))
		if err != nil {
			t.Fatal(err)
		}
		if holder, err := journal.Holder(dir); err != nil || (holder != nil) != want {
			t.Errorf("%s: %v, %v", what, holder, err)
		}
	}
	for _, begins := range []bool{false, true} {
		p, err := prepare.FromFile(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		held("attached", true)
		if !begins {
			p.Close()
			held("given up", false)
			continue
		}
		s, err := compose.Begin(t.Context(), p, o, compose.How{})
		if err != nil {
			t.Fatal(err)
		}
		held("begun", true)
		if p.Remote.TakeLock() != nil {
			t.Error("two have the lock")
		}
		_ = s.Close()
		held("ended", false)
	}
}
