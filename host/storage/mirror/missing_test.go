package mirror_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/storage/mirror"
)

// B-086: a piece of the record that is missing in the store, while later ones are there, is an error that names it, and
// nothing is overwritten. The last piece may be missing: a lost machine has copied no more.
func TestMissingPiece(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	for range 4 {
		a.record("text")
		mirror.Round(t, a.mirror)
	}
	a.end()
	folder := filepath.Join(strings.TrimPrefix(u, "file://"), "journal", "00000000000000000001.tj")
	pieces, err := os.ReadDir(folder)
	if err != nil || len(pieces) < 4 {
		t.Fatalf("%d pieces, %v", len(pieces), err)
	}
	for i, piece := range pieces {
		path := filepath.Join(folder, piece.Name())
		text, err := os.ReadFile(path)
		a.do(err)
		a.do(os.Remove(path))
		b := on(t, u)
		err = mirror.Fetch(t.Context(), b.store, b.dir)
		var gap *mirror.GapError
		last := i+1 == len(pieces)
		if last != (err == nil) || !last && !errors.As(err, &gap) || !last && !strings.HasPrefix(err.Error(),
			u+"/journal/00000000000000000001.tj/"+piece.Name()+": ") {
			t.Errorf("without the piece %s: %v", piece.Name(), err)
		}
		a.do(os.WriteFile(path, text, 0o600))
	}
}

// B-086: a file of the record that is complete has no missing end.
func TestMissingEndOfAWholeFile(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	mirror.Round(t, a.mirror)
	a.record("two")
	a.end()
	a.begin()
	a.record("three")
	a.end()
	folder := filepath.Join(strings.TrimPrefix(u, "file://"), "journal", "00000000000000000001.tj")
	pieces, err := os.ReadDir(folder)
	a.do(err)
	for _, piece := range pieces {
		if !strings.HasPrefix(piece.Name(), "sealed-") {
			a.do(os.Truncate(filepath.Join(folder, piece.Name()), 64))
		}
	}
	b := on(t, u)
	var gap *mirror.GapError
	if err := mirror.Fetch(t.Context(), b.store, b.dir); !errors.As(err, &gap) || gap.At != 64 {
		t.Error(err)
	}
	a.begin() // its own copy is whole, and mends that in the store
	a.end()
	c := on(t, u)
	if err := mirror.Fetch(t.Context(), c.store, c.dir); err != nil {
		t.Error(err)
	}
	if got := strings.Join(c.records(), " "); got != "one two three" {
		t.Errorf("%q", got)
	}
}

// B-155: a user's objects beside the record in the store are not fetched, and not removed.
func TestOthersBesideTheRecordInTheStore(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	a.end()
	dir := filepath.Join(strings.TrimPrefix(u, "file://"), "journal")
	others := []string{"notes.txt", "mine/0000000000000000", "00000000000000000001.tj/notes.txt",
		"00000000000000000001.tj/40"}
	for _, name := range others {
		a.do(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		a.do(os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600))
	}
	a.begin()
	a.end()
	b := on(t, u).begin()
	b.end()
	for _, name := range others {
		if text, err := os.ReadFile(filepath.Join(dir, name)); string(text) != "mine" {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
	if got := strings.Join(b.records(), " "); got != "one" {
		t.Errorf("%q", got)
	}
}

// B-086: a working directory that has lost the end of its record does not overwrite that in the store.
func TestStoreHasMore(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{"gone": os.Remove,
		"short": func(path string) error { return os.Truncate(path, 64) }} {
		u := shared(t)
		a := on(t, u).begin()
		a.record("one")
		a.end()
		a.begin()
		a.record("two")
		mirror.Round(t, a.mirror)
		a.die()
		a.do(lose(filepath.Join(a.dir.Journal(), "00000000000000000002.tj")))
		a.openJournal()
		a.lease, _ = mirror.Take(t.Context(), a.store, lasting, a.owner, func(string) {})
		a.mirror = mirror.New(a.store, a.lease, a.dir)
		x, err := a.mirror.Start(t.Context(), a.journal, mirror.Listener{})
		want := u + "/journal/00000000000000000002.tj has more of the record than " + a.dir.Journal()
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				mirror.Kill(x)
			}
		}
		a.do(a.lease.Release(t.Context()))
		b := on(t, u).begin()
		if got := strings.Join(b.records(), " "); got != "one two" {
			t.Errorf("%s: %q", name, got)
		}
		b.end()
	}
}

// B-086: the last piece may be torn: what is whole is continued.
func TestTornPiece(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	mirror.Round(t, a.mirror)
	a.record("two")
	a.end()
	pieces, err := filepath.Glob(filepath.Join(strings.TrimPrefix(u, "file://"), "journal", "*.tj", "*"))
	if err != nil || len(pieces) < 2 {
		t.Fatal(pieces, err)
	}
	a.do(os.Truncate(pieces[len(pieces)-1], 20))
	b := on(t, u).begin()
	b.record("three")
	b.end()
	c := on(t, u).begin()
	if got := strings.Join(c.records(), " "); got != "one three" {
		t.Errorf("%q", got)
	}
	c.end()
}

// A damaged lease says where it is and what can be done.
func TestDamagedLease(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	a.end()
	a.do(os.WriteFile(filepath.Join(strings.TrimPrefix(u, "file://"), "lease.json"), []byte("garbage\n"), 0o600))
	_, err := mirror.Take(t.Context(), a.store, quick, a.owner, func(string) {})
	if err == nil || !strings.HasPrefix(err.Error(), u+"/lease.json is damaged (") ||
		!strings.Contains(err.Error(), "if none does, remove it") {
		t.Error(err)
	}
}

// B-057: a file of a checkpoint that is gone in the store, or another one, is named when the experiment is fetched:
// which checkpoint lacks it, where it belongs, and what to do.
func TestDamagedCheckpointInTheStore(t *testing.T) {
	t.Parallel()
	for what, damage := range map[string]func(path string) error{"is gone": os.Remove,
		"is not what was saved": func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) }} {
		u := shared(t)
		a := on(t, u).begin()
		a.record("one")
		a.checkpoint(1, "first")
		a.checkpoint(2, "first") // it has the same file
		a.end()
		blobs, err := filepath.Glob(filepath.Join(strings.TrimPrefix(u, "file://"), "blobs", "*"))
		if err != nil || len(blobs) != 1 {
			t.Fatal(blobs, err)
		}
		a.do(damage(blobs[0]))
		b := on(t, u)
		b.do(mirror.Fetch(t.Context(), b.store, b.dir))
		want := "the checkpoint trials/00000_a/checkpoints/000001 is damaged in the storage: file://" + blobs[0] +
			", which has its file state, " + what + " (and 1 more); put it back from a copy, or trials"
		if got := b.store.Lacks(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
