package mirror_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/internal/testplace"
)

// holds checks what another machine finds in a store.
func holds(t *testing.T, url, records string) {
	t.Helper()
	b := on(t, url)
	b.do(mirror.Fetch(t.Context(), b.store, b.dir))
	if got := strings.Join(b.records(), " "); got != records || b.state(1) != "state" {
		t.Errorf("the store has %q, and checkpoint 1 with %q", got, b.state(1))
	}
}

// begun is a machine that has copied an event and a checkpoint.
func begun(t *testing.T, url string) *machine {
	t.Helper()
	a := on(t, url).beginWith(lasting)
	a.checkpoint(1, "state")
	a.record("one")
	mirror.Round(t, a.mirror)
	return a
}

func (m *machine) read(path string) string {
	m.t.Helper()
	text, err := os.ReadFile(path)
	m.do(err)
	return string(text)
}

// files are all files below a folder, by path.
func (m *machine) files(folder string) (list []string) {
	m.t.Helper()
	m.do(filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			list = append(list, path)
		}
		return err
	}))
	return list
}

// empty removes what a folder has.
func (m *machine) empty(dir string) {
	m.t.Helper()
	list, err := os.ReadDir(dir)
	m.do(err)
	for _, e := range list {
		m.do(os.RemoveAll(filepath.Join(dir, e.Name())))
	}
}

// Where somebody empties the store of a running experiment, or removes its folder, nothing is added to the record
// there, which would have a hole: all of it is copied again.
func TestStoreIsEmptied(t *testing.T) {
	t.Parallel()
	for what, remove := range map[string]func(*machine, string){
		"emptied": (*machine).empty,
		"removed": func(m *machine, dir string) { m.do(os.RemoveAll(dir)) },
	} {
		u := shared(t)
		a := begun(t, u)
		a.die() // no other rounds
		dir := strings.TrimPrefix(u, "file://")
		remove(a, dir)
		a.record("two")
		err := mirror.TryRound(t, a.mirror)
		if err == nil || !strings.Contains(err.Error(), u+" has lost what was copied there") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Stat(dir + "/journal"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the record is there already: %v", what, err)
		}
		mirror.Round(t, a.mirror)
		holds(t, u, "one two")
		remove(a, dir)
		a.end()
		holds(t, u, "one two")
	}
}

// The user learns at once that the store was emptied, also while nothing is recorded, and when all is there again.
func TestEmptiedStoreIsReported(t *testing.T) {
	t.Parallel()
	u := shared(t)
	warned := make(chan string, 10)
	a := on(t, u)
	a.warn = func(text string) { warned <- text }
	a.beginWith(lasting)
	a.checkpoint(1, "state")
	a.record("one")
	mirror.Round(t, a.mirror)
	a.empty(strings.TrimPrefix(u, "file://"))
	for _, want := range []string{"new data is kept in " + a.dir.Path() + " only until it can be written: " + u +
		" has lost what was copied there", "the copy in the storage is complete again"} {
		if text := <-warned; !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
	holds(t, u, "one")
	a.end()
}

// What was removed from the store singly is there again at the end.
func TestStoreLosesSomething(t *testing.T) {
	t.Parallel()
	for i := range 100 {
		u := shared(t)
		a := begun(t, u)
		for _, text := range []string{"two", "three"} {
			a.record(text)
			mirror.Round(t, a.mirror)
		}
		list := a.files(strings.TrimPrefix(u, "file://"))
		if i < len(list) {
			a.do(os.Remove(list[i]))
		}
		a.end()
		holds(t, u, "one two three")
		if now := a.files(strings.TrimPrefix(u, "file://")); len(now) < 5 || len(now) > len(list) {
			t.Errorf("%s was removed, and there is %q", list[i], now)
		}
		if i >= len(list) { // it may have more or fewer pieces each time
			return
		}
	}
	t.Error("it has too many files")
}

// A host that has begun in the emptied store meanwhile keeps it.
func TestAnotherBeginsInTheEmptiedStore(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := begun(t, u)
	a.die()
	a.empty(strings.TrimPrefix(u, "file://"))
	if err := mirror.TryRound(t, a.mirror); err == nil {
		t.Error("it has not noticed")
	}
	b := begun(t, u)
	a.record("two")
	var held *mirror.HeldError
	if err := mirror.TryRound(t, a.mirror); !errors.As(err, &held) {
		t.Error(err)
	}
	b.end()
	holds(t, u, "one")
}

// What somebody else has put in the place of what was copied stays as it is.
func TestAnotherRecordInItsPlace(t *testing.T) {
	t.Parallel()
	u, other := shared(t), shared(t)
	b := begun(t, other)
	b.record("other")
	b.end()
	dir, place := strings.TrimPrefix(u, "file://"), strings.TrimPrefix(other, "file://")
	b.do(os.Remove(place + "/lease.json"))
	a := begun(t, u)
	a.die()
	a.record("two")
	a.do(os.CopyFS(dir+".old", os.DirFS(dir)))
	a.empty(dir)
	a.do(os.CopyFS(dir, os.DirFS(place)))
	before := a.files(dir)
	for range 3 {
		_ = mirror.TryRound(t, a.mirror)
	}
	err := mirror.TryRound(t, a.mirror)
	if err == nil || !strings.Contains(err.Error(), u+" has another record than "+a.dir.Path()) {
		t.Error(err)
	}
	a.do(os.Remove(dir + "/lease.json"))
	if now := a.files(dir); !slices.Equal(now, before) {
		t.Errorf("%q, before %q", now, before)
	}
	holds(t, u, "one other")
	a.do(os.RemoveAll(dir))
	a.do(os.Rename(dir+".old", dir))
	a.end()
	holds(t, u, "one two")
}

// Checkpoints that nodes had written to the store alone are lost with it: that is said, and the rest is copied.
func TestNodesCheckpointsVanish(t *testing.T) {
	t.Parallel()
	u := shared(t)
	warned := make(chan string, 10)
	a := on(t, u)
	a.warn = func(text string) { warned <- text }
	a.beginWith(lasting)
	a.checkpoint(1, "state")
	a.record("one")
	from := t.TempDir()
	a.do(os.WriteFile(filepath.Join(from, "file"), []byte("of a node"), 0o600))
	folder := a.mirror.Nodes.Folder("00000_a", 2, 1, 1)
	seen, err := mirror.OpenSeen(t.Context(), u)
	a.do(err)
	files, err := seen.Save(t.Context(), folder, from, func() {})
	a.do(err)
	trial := a.dir.Trial("00000_a")
	_, err = a.dir.CommitAway(trial, 2, storage.Manifest{Iteration: 2, Stored: folder, Files: files})
	a.do(err)
	a.mirror.Saved(storage.CheckpointDir(trial, 2))
	mirror.Round(t, a.mirror)
	a.empty(strings.TrimPrefix(u, "file://"))
	for text := ""; !strings.Contains(text, "checkpoints/000002 is damaged in the storage"); {
		text = <-warned
	}
	a.end()
	holds(t, u, "one")
}

// Where an older state of the store is put back, what it lacks is copied again.
func TestStoreIsPutBack(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := begun(t, u)
	dir := strings.TrimPrefix(u, "file://")
	a.do(os.CopyFS(dir+".copy", os.DirFS(dir)))
	for _, text := range []string{"two", "three"} {
		a.record(text)
		mirror.Round(t, a.mirror)
	}
	lease := a.read(dir + ".copy/lease.json")
	testplace.Soon(t, "the lease is renewed", func() bool { return a.read(dir+"/lease.json") != lease })
	a.do(os.Rename(dir, dir+".old"))
	a.do(os.Rename(dir+".copy", dir))
	a.record("four")
	a.end()
	holds(t, u, "one two three four")
}

// So is what it lacks where that is older than the host, with the mark of an earlier one.
func TestStoreIsPutBackFromBefore(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := begun(t, u)
	a.end()
	dir := strings.TrimPrefix(u, "file://")
	a.do(os.CopyFS(dir+".copy", os.DirFS(dir)))
	b := on(t, u).beginWith(lasting)
	b.record("two")
	mirror.Round(t, b.mirror)
	b.do(os.Rename(dir, dir+".old"))
	b.do(os.Rename(dir+".copy", dir))
	b.record("three")
	b.end()
	holds(t, u, "one two three")
}

// A shared directory that is not mounted for a while is not made anew in the folder below it, which may be empty or not
// be there.
func TestStoreIsNotMounted(t *testing.T) {
	t.Parallel()
	for _, point := range []string{".", "name", "deep/name"} {
		folder := filepath.Join(t.TempDir(), "share")
		u := "file://" + filepath.Join(folder, "deep", "name")
		if point != "deep/name" {
			u = "file://" + filepath.Join(folder, "name")
		}
		mount := filepath.Join(folder, point)
		a := begun(t, u)
		a.die()
		away := folder + ".away"
		a.do(os.Rename(mount, away))
		a.record("two")
		for _, bare := range []bool{false, true} {
			if bare {
				a.do(os.MkdirAll(mount, 0o700))
			} else if point != "." {
				continue // the folder around it is there: it was removed
			}
			for range 3 {
				err := mirror.TryRound(t, a.mirror)
				if err == nil || !strings.Contains(err.Error(), "is its file system no longer mounted") {
					t.Errorf("%s: %v", point, err)
				}
			}
			if list, err := os.ReadDir(mount); bare != (err == nil) || len(list) > 0 {
				t.Fatalf("%s: %v, %v", point, list, err)
			}
		}
		a.do(os.Remove(mount))
		a.do(os.Rename(away, mount))
		a.record("three")
		a.end()
		holds(t, u, "one two three")
	}
}

// A store that takes requests and does not answer is reported, and what waits for it is copied when it answers.
func TestStoreHangs(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u)
	warned := make(chan string, 10)
	a.warn = func(text string) { warned <- text }
	hang, answer := mirror.Hangs(a.store)
	a.beginWith(mirror.Timing{Renew: 10 * time.Millisecond, Expire: 300 * time.Millisecond})
	a.checkpoint(1, "state")
	a.record("one")
	mirror.Round(t, a.mirror)
	hang()
	a.record("two")
	for _, want := range []string{"it does not answer", "complete again"} {
		for text := ""; !strings.Contains(text, want); { // a busy machine may fall behind before
			text = <-warned
		}
		if want != "complete again" {
			answer()
		}
	}
	a.end()
	holds(t, u, "one two")
}
