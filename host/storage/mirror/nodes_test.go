package mirror_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
)

// onNode saves a checkpoint as a node does that writes to the store itself, and returns its manifest.
func (m *machine) onNode(id uint32, content string) storage.Manifest {
	m.t.Helper()
	from := m.t.TempDir()
	m.do(os.MkdirAll(filepath.Join(from, "sub"), 0o700))
	for _, name := range []string{"state", "sub/same"} {
		m.do(os.WriteFile(filepath.Join(from, name), []byte(content), 0o600))
	}
	node, err := mirror.OpenSeen(m.t.Context(), m.store.URL())
	m.do(err)
	defer node.Close()
	x := storage.Manifest{Iteration: uint64(id), Stored: m.mirror.Nodes.Folder("00000_a", id, 1, 7)}
	x.Files, err = node.Save(m.t.Context(), x.Stored, from, func() {})
	m.do(err)
	m.do(m.mirror.Nodes.Check(m.t.Context(), &x))
	return x
}

// commitAway has the host know of a node's checkpoint.
func (m *machine) commitAway(id uint32, x storage.Manifest) string {
	m.t.Helper()
	trial := m.dir.Trial("00000_a")
	m.do(m.dir.MakeTrialDir(trial, []byte("{}")))
	_, err := m.dir.CommitAway(trial, id, x)
	m.do(err)
	m.mirror.Saved(storage.CheckpointDir(trial, id))
	return storage.CheckpointDir(trial, id)
}

// stored lists the objects that nodes have written.
func (m *machine) stored(u string) (list []string) {
	m.t.Helper()
	found, err := filepath.Glob(filepath.Join(strings.TrimPrefix(u, "file://"), "nodes", "*", "*", "*", "*"))
	m.do(err)
	return found
}

// B-059: a checkpoint that a node has written counts once the host knows it. Another machine has its files,
// and it takes nothing with it when it is deleted.
func TestNodesWrite(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	dir := a.commitAway(1, a.onNode(1, "content"))
	a.commitAway(2, a.onNode(2, "content")) // the same, in a folder of its own
	mirror.Round(t, a.mirror)
	if _, err := os.Lstat(storage.FilesOf(dir)); err == nil || len(a.stored(u)) != 2 {
		t.Errorf("%v; the store has %v", err, a.stored(u))
	}
	a.remove(1)
	a.end()
	if list := a.stored(u); len(list) != 1 || !strings.Contains(list[0], "/000002-1-7/") {
		t.Errorf("of two checkpoints one is deleted; the store has %v", list)
	}
	b := on(t, u).begin()
	if b.state(1) != "" || b.state(2) != "content" {
		t.Errorf("%q, %q", b.state(1), b.state(2))
	}
	b.end()
}

// Objects that are not named as hosts and nodes name theirs are somebody else's: they are left alone.
func TestForeignObjects(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	a.end()
	root, host := strings.TrimPrefix(u, "file://"), "nodes/"+strings.Repeat("A", 26)
	foreign := []string{"nodes/x.txt", host + "/x.txt", host + "/t/000001-1-1/x.txt", "blobs/x.txt"}
	left := []string{host + "/t/000001-1-1/" + strings.Repeat("f", 64), "blobs/" + strings.Repeat("f", 64)}
	for _, name := range slices.Concat(foreign, left) {
		a.do(os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700))
		a.do(os.WriteFile(filepath.Join(root, name), nil, 0o600))
	}
	b := on(t, u).begin()
	mirror.Round(t, b.mirror)
	b.end()
	for _, name := range foreign {
		if _, err := os.Lstat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range left {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			t.Errorf("%s is of no checkpoint, and is there", name)
		}
	}
}

// Of what a node has written when its host dies, nothing is left but what the host has committed.
func TestHostDiesWhileNodesWrite(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	committed := a.onNode(1, "known")
	a.onNode(2, "half")
	a.die()
	a.commitAway(1, committed) // after the last round
	a.do(a.journal.Close())
	a.begin()
	mine := a.onNode(3, "of the new host") // before its first round is over, perhaps
	mirror.Round(t, a.mirror)
	if list := a.stored(u); len(list) != 2 {
		t.Errorf("the store has %v", list)
	}
	a.do(a.mirror.Nodes.Check(t.Context(), &mine))
	a.do(a.mirror.Nodes.Drop(t.Context(), mine.Stored))
	a.end()
	b := on(t, u).begin()
	if b.state(1) != "known" {
		t.Errorf("%q", b.state(1))
	}
	b.end()
}

// What a node says that it has written is looked at.
func TestNodesThatLie(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	x := a.onNode(1, "content")
	other := x
	other.Files = append([]storage.File{{Path: "a", Bytes: 1, SHA256: strings.Repeat("ab", 32)}}, x.Files...)
	short := x
	short.Files = []storage.File{x.Files[0]}
	short.Files[0].Bytes++
	for _, x := range []storage.Manifest{other, short} {
		if a.mirror.Nodes.Check(t.Context(), &x) == nil {
			t.Errorf("%+v is there", x)
		}
	}
	a.end()
}

// The files come to the host's machine when they are needed there: all or none.
func TestBring(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	dir := a.commitAway(1, a.onNode(1, "content"))
	to := filepath.Join(t.TempDir(), "to")
	if _, away := errors.AsType[*storage.AwayError](storage.Restore(dir, to)); !away {
		t.Error("it is not away")
	}
	for range 2 { // the second time nothing is to do
		a.do(a.mirror.Nodes.Bring(t.Context(), dir))
	}
	a.do(storage.Restore(dir, to))
	if a.state(1) != "content" {
		t.Errorf("%q", a.state(1))
	}
	gone := a.commitAway(2, a.onNode(2, "other"))
	m, err := storage.ReadManifest(gone)
	a.do(err)
	a.do(a.mirror.Nodes.Drop(t.Context(), m.Stored))
	err = a.mirror.Nodes.Bring(t.Context(), gone)
	if _, damaged := errors.AsType[*storage.DamagedError](err); !damaged {
		t.Errorf("%v", err)
	}
	if list, err := os.ReadDir(gone); err != nil || len(list) != 1 {
		t.Errorf("%v is left (%v)", list, err)
	}
	a.end()
}

// A file that changes while it is written, and content that is not what it was, are not taken.
func TestNodesCompare(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	x := a.onNode(1, "content")
	for _, path := range a.stored(u) {
		a.do(os.WriteFile(path, []byte("c0ntent"), 0o600))
	}
	node, err := mirror.OpenSeen(t.Context(), u)
	a.do(err)
	defer node.Close()
	if err := node.Load(t.Context(), x, t.TempDir(), func() {}); !errors.Is(err, mirror.ErrNone) {
		t.Errorf("%v", err)
	}
	a.end()
}
