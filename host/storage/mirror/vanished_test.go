package mirror_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// Where somebody empties the store of a running experiment, all of it is copied again.
func TestStoreIsEmptied(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := begun(t, u)
	dir := strings.TrimPrefix(u, "file://")
	list, err := os.ReadDir(dir)
	a.do(err)
	for _, e := range list {
		a.do(os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	a.record("two")
	a.end()
	holds(t, u, "one two")
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

// A shared directory that is not mounted for a while is not made anew in the folder below it.
func TestStoreIsNotMounted(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := begun(t, u)
	dir := strings.TrimPrefix(u, "file://")
	a.do(os.Rename(dir, dir+".away"))
	a.record("two")
	if err := mirror.TryRound(t, a.mirror); err == nil || !strings.Contains(err.Error(), "no longer mounted") {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("it was made anew: %v", err)
	}
	a.do(os.Rename(dir+".away", dir))
	a.record("three")
	a.end()
	holds(t, u, "one two three")
}

// A store that takes requests and does not answer is reported, and what waits for it is copied when it answers.
func TestStoreHangs(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u)
	warned := make(chan string, 10)
	a.warn = func(text string) { warned <- text }
	a.beginWith(mirror.Timing{Renew: 10 * time.Millisecond, Expire: 300 * time.Millisecond})
	a.checkpoint(1, "state")
	a.record("one")
	mirror.Round(t, a.mirror)
	answer := mirror.Hang(a.store)
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
