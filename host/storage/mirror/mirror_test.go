package mirror_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
)

var quick = mirror.Timing{Renew: 50 * time.Millisecond, Expire: 2 * time.Second}

// lasting makes leases that do not expire on a busy machine.
var lasting = mirror.Timing{Renew: 50 * time.Millisecond, Expire: 10 * time.Minute}

// machine is a working directory with a host.
type machine struct {
	t       *testing.T
	store   *mirror.Store
	dir     storage.Dir
	owner   string
	lease   *mirror.Lease
	mirror  *mirror.Mirror
	running *mirror.Running
	journal *journal.Journal
	warn    func(string)
}

// shared returns the URL of a shared directory.
func shared(t *testing.T) string { return "file://" + filepath.ToSlash(t.TempDir()) + "/name" }

// on returns another machine with the same storage.
func on(t *testing.T, url string) *machine {
	t.Helper()
	d, err := storage.At(filepath.Join(t.TempDir(), "name"))
	if err == nil {
		err = d.Create()
	}
	m := &machine{t: t, dir: d, warn: func(text string) { t.Log(text) }}
	if err == nil {
		m.owner, err = mirror.Owner(d.Path())
	}
	if err == nil {
		m.store, err = mirror.Open(t.Context(), url)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.store.Close() })
	return m
}

func (m *machine) do(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// begin takes the lease and starts to copy.
func (m *machine) begin() *machine {
	m.t.Helper()
	return m.beginWith(quick)
}

func (m *machine) beginWith(timing mirror.Timing) *machine {
	m.t.Helper()
	var err error
	m.lease, err = mirror.Take(m.t.Context(), m.store, timing, m.owner, func(string) {})
	m.do(err)
	there, err := m.store.Exists(m.t.Context())
	m.do(err)
	if there && !m.lease.SameDir {
		m.do(mirror.Fetch(m.t.Context(), m.store, m.dir))
	}
	m.do(m.lease.Own(m.t.Context(), m.owner, false))
	m.openJournal()
	m.mirror = mirror.New(m.store, m.lease, m.dir)
	m.running, err = m.mirror.Start(m.t.Context(), m.journal,
		mirror.Listener{Warn: m.warn, Lost: func(error) {}})
	m.do(err)
	return m
}

func (m *machine) openJournal() {
	fs, err := journal.MakeDir(m.dir.Journal())
	m.do(err)
	if m.dir.Exists() {
		m.journal, _, err = journal.Open(fs, journal.Options{}, func(uint64, [][]byte) error { return nil })
		m.do(err)
		return
	}
	m.journal, err = journal.Create(fs, journal.Options{RunID: journal.RunID{1}})
	m.do(err)
	m.do(os.WriteFile(m.dir.Experiment(), []byte("version: 1\n"), 0o600))
}

func (m *machine) record(text string) {
	m.t.Helper()
	_, err := m.journal.Append([][]byte{[]byte(text)})
	m.do(err)
	m.mirror.Wake()
}

// checkpoint saves a checkpoint with one file.
func (m *machine) checkpoint(id uint32, content string) {
	m.t.Helper()
	trial := m.dir.Trial("00000_a")
	m.do(m.dir.MakeTrialDir(trial, []byte("{}")))
	files, err := storage.Stage(trial, id)
	m.do(err)
	m.do(os.WriteFile(filepath.Join(files, "state"), []byte(content), 0o600))
	_, err = m.dir.Commit(trial, id, storage.Manifest{Iteration: uint64(id)})
	m.do(err)
	m.mirror.Saved(storage.CheckpointDir(trial, id))
}

func (m *machine) remove(id uint32) {
	trial := m.dir.Trial("00000_a")
	m.mirror.Delete(storage.CheckpointDir(trial, id), func() { m.do(m.dir.RemoveCheckpoint(trial, id)) })
}

// end closes as a host does that is told to stop.
func (m *machine) end() {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 5*time.Minute)
	defer cancel()
	m.do(m.running.Close(ctx))
	m.do(m.journal.Close())
}

// die closes nothing: the machine is lost.
func (m *machine) die() { mirror.Kill(m.running) }

// records returns the records in a directory.
func (m *machine) records() (list []string) {
	m.t.Helper()
	fs, err := journal.OpenDir(m.dir.Journal())
	m.do(err)
	defer fs.Close()
	_, err = journal.Verify(fs, journal.Options{}, func(_ uint64, records [][]byte) error {
		for _, r := range records {
			list = append(list, string(r))
		}
		return nil
	})
	m.do(err)
	return list
}

// state returns the content of a checkpoint, if it is complete.
func (m *machine) state(id uint32) string {
	dir := storage.CheckpointDir(m.dir.Trial("00000_a"), id)
	if _, err := storage.CheckCheckpoint(dir, true); err != nil {
		return ""
	}
	b, err := os.ReadFile(filepath.Join(dir, "files", "state"))
	m.do(err)
	return string(b)
}

// B-059: another machine continues with all data, and the first one later with what the other has
// added.
func TestAnotherMachineGoesOn(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	a.checkpoint(1, "first")
	a.checkpoint(2, "second")
	a.record("two")
	a.remove(1)
	a.end()
	if a.state(1) != "" || a.state(2) != "second" {
		t.Errorf("here: %q, %q", a.state(1), a.state(2))
	}
	b := on(t, u).begin()
	if got := strings.Join(b.records(), " "); got != "one two" {
		t.Errorf("%q", got)
	}
	if b.state(1) != "" || b.state(2) != "second" {
		t.Errorf("there: %q, %q", b.state(1), b.state(2))
	}
	b.record("three")
	b.end()
	c := on(t, u).begin()
	if got := strings.Join(c.records(), " "); got != "one two three" {
		t.Errorf("%q", got)
	}
	c.end()
}

// B-059: of a lost machine, the store has what the last round copied, in order; each checkpoint that
// the record names is complete.
func TestLostMachine(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	for i := range uint32(40) { // more pieces than are kept apart
		a.checkpoint(i+1, strings.Repeat("x", int(i)))
		a.record(strings.Repeat("x", int(i)))
		mirror.Round(t, a.mirror)
		if i > 0 {
			a.remove(i)
		}
	}
	a.record("nobody heard of this")
	a.die()
	b := on(t, u).begin()
	got := b.records()
	if len(got) < 40 || got[39] != strings.Repeat("x", 39) {
		t.Errorf("%d records", len(got))
	}
	if b.state(40) != strings.Repeat("x", 39) {
		t.Errorf("the last checkpoint holds %q", b.state(40))
	}
	if list, err := os.ReadDir(filepath.Join(strings.TrimPrefix(u, "file://"), "blobs")); err != nil || len(list) > 3 {
		t.Errorf("%d files of checkpoints, %v", len(list), err)
	}
	b.end()
}

// A host on the same machine continues after a crash: it fetches nothing, and copies what is missing.
func TestSameMachine(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	mirror.Round(t, a.mirror)
	a.die()
	a.record("two")
	a.checkpoint(1, "first")
	a.do(a.journal.Close())
	a.begin()
	if !a.lease.SameDir {
		t.Error("it takes its own copy for another's")
	}
	a.end()
	b := on(t, u).begin()
	if got := strings.Join(b.records(), " "); got != "one two" || b.state(1) != "first" {
		t.Errorf("%q, %q", got, b.state(1))
	}
	b.end()
}

// A checkpoint that a killed host left unfinished stays on its machine: its manifest names no files yet, and another
// machine would take it for a checkpoint without files.
func TestUnfinishedStays(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	a.checkpoint(1, "first")
	trial := a.dir.Trial("00000_a")
	unfinished := []string{"000002.tmp", "000003.new", "000004.old"}
	for _, name := range unfinished {
		dir := filepath.Join(filepath.Dir(storage.CheckpointDir(trial, 1)), name)
		a.do(os.MkdirAll(storage.FilesOf(dir), 0o700))
		a.do(os.WriteFile(filepath.Join(storage.FilesOf(dir), "state"), []byte("next"), 0o600))
		a.do(os.WriteFile(filepath.Join(dir, "MANIFEST.json"), []byte(`{"attempt": 1, "files": null}`), 0o600))
	}
	a.end()
	a.begin()
	a.end()
	key := "trials/00000_a/checkpoints/000005.new"
	a.do(os.MkdirAll(filepath.Join(strings.TrimPrefix(u, "file://"), key), 0o700))
	a.do(os.WriteFile(filepath.Join(strings.TrimPrefix(u, "file://"), key, "MANIFEST.json"),
		[]byte(`{"files": null}`), 0o600)) // as earlier versions did
	b := on(t, u)
	b.do(mirror.Fetch(t.Context(), b.store, b.dir))
	list, err := os.ReadDir(filepath.Dir(storage.CheckpointDir(b.dir.Trial("00000_a"), 1)))
	if err != nil || len(list) != 1 || b.state(1) != "first" {
		t.Errorf("%v, %v, %q", list, err, b.state(1))
	}
}

// B-155: a user's files beside the record are not part of it and are not copied.
func TestOthersBesideTheRecord(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	names := []string{"0-notes.txt", "00000000000000000000.tj.tmp"} // both sort before the record
	for _, name := range names {
		a.do(os.WriteFile(filepath.Join(a.dir.Journal(), name), []byte("mine"), 0o600))
	}
	a.record("one")
	a.end()
	b := on(t, u).begin()
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(b.dir.Journal(), name)); err == nil {
			t.Errorf("%s was copied", name)
		}
		if text, err := os.ReadFile(filepath.Join(a.dir.Journal(), name)); string(text) != "mine" {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
	if got := strings.Join(b.records(), " "); got != "one" {
		t.Errorf("%q", got)
	}
	b.end()
}

// A model stays in the storage when its host restarts, whatever the name of its format.
func TestExportsStay(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	trial := a.dir.Trial("00000_a")
	formats := []string{"onnx", "files", "export", "own"}
	for _, format := range formats {
		left := filepath.Join(storage.NewExports(trial), format)
		a.do(os.MkdirAll(left, 0o700))
		a.do(os.WriteFile(filepath.Join(left, "model"), []byte(format), 0o600))
		_, err := a.dir.CommitExport(trial, format, storage.Manifest{})
		a.do(err)
		a.mirror.Saved(storage.ExportDir(trial, format))
	}
	a.end()
	a.begin()
	a.end()
	b := on(t, u)
	b.do(mirror.Fetch(t.Context(), b.store, b.dir))
	for _, format := range formats {
		if _, err := storage.CheckCheckpoint(storage.ExportDir(b.dir.Trial("00000_a"), format), true); err != nil {
			t.Error(err)
		}
	}
}

// A host that was stopped during a round, and continues after another took over, does not harm the
// record.
func TestLatePiece(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	mirror.Round(t, a.mirror)
	a.die()
	b := on(t, u).begin()
	b.record("two")
	mirror.Round(t, b.mirror)
	a.record("too late")
	mirror.PushJournal(t, a.mirror)
	b.end()
	c := on(t, u).begin()
	if got := strings.Join(c.records(), " "); got != "one two" {
		t.Errorf("%q", got)
	}
	c.end()
}

// Two hosts do not run the same experiment.
func TestLease(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).beginWith(lasting)
	b := on(t, u)
	_, err := mirror.Take(t.Context(), b.store, lasting, b.owner, func(string) {})
	var held *mirror.HeldError
	if !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Errorf("%v", err)
	}
	a.end()
	if _, err := mirror.Take(t.Context(), b.store, mirror.DefaultTiming, b.owner, func(string) {}); err != nil {
		t.Errorf("after its end: %v", err)
	}
	if err := a.lease.Release(t.Context()); err != nil { // already released: no error
		t.Error(err)
	}
}

// Readers on another machine see without waiting that a host is alive.
func TestHeldBy(t *testing.T) {
	t.Parallel()
	u := shared(t)
	s := on(t, u).store
	held := func(at time.Time) string {
		machine, err := s.HeldBy(t.Context(), mirror.DefaultTiming, at)
		if err != nil {
			t.Fatal(err)
		}
		return machine
	}
	if got := held(time.Now()); got != "" {
		t.Errorf("nobody has it, but %q", got)
	}
	a := on(t, u).begin()
	name, _ := os.Hostname()
	if got := held(time.Now()); got != name {
		t.Errorf("%q has it, want %q", got, name)
	}
	if got := held(time.Now().Add(time.Hour)); got != "" {
		t.Errorf("an hour later %q still has it", got)
	}
	a.end()
	if got := held(time.Now()); got != "" {
		t.Errorf("after its end %q has it", got)
	}
}

// A host that loses its lease while it fetches does not take it back; one that fetches for a long time
// keeps it.
func TestLeaseWhileFetching(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a, b := on(t, u), on(t, u)
	lease, err := mirror.Take(t.Context(), a.store, lasting, a.owner, func(string) {})
	a.do(err)
	var held *mirror.HeldError
	a.do(lease.While(t.Context(), func(ctx context.Context) error {
		if _, err := mirror.Take(ctx, b.store, lasting, b.owner, func(string) {}); !errors.As(err, &held) {
			t.Errorf("while it is fetched: %v", err)
		}
		return nil
	}))
	_, err = mirror.Take(t.Context(), b.store, mirror.Timing{Renew: time.Millisecond, Expire: 10 * time.Millisecond},
		b.owner, func(string) {})
	b.do(err)
	if err := lease.Own(t.Context(), a.owner, false); !errors.As(err, &held) {
		t.Errorf("after another has taken it: %v", err)
	}
	err = lease.While(t.Context(), func(ctx context.Context) error { return nil })
	if !errors.As(err, &held) {
		t.Errorf("lost: %v", err)
	}
}

// busy is a record that grows while it is synced.
type busy struct {
	*journal.Journal
	meanwhile func()
}

func (b busy) Sync() error {
	b.meanwhile()
	return b.Journal.Sync()
}

// A checkpoint is removed from the store only when the record there has its deletion, whenever that
// was recorded.
func TestDeletedDuringARound(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.checkpoint(1, "state")
	a.record("saved 1")
	mirror.Round(t, a.mirror)
	a.die()
	var once sync.Once
	mirror.SetRecord(a.mirror, busy{a.journal, func() {
		once.Do(func() { a.record("deleted 1"); a.remove(1) })
	}})
	mirror.Round(t, a.mirror)
	b := on(t, u)
	b.do(mirror.Fetch(t.Context(), b.store, b.dir))
	if got := strings.Join(b.records(), ", "); got == "saved 1" && b.state(1) != "state" {
		t.Errorf("the record is %q, and checkpoint 1 has gone", got)
	}
	mirror.Round(t, a.mirror)
	c := on(t, u)
	c.do(mirror.Fetch(t.Context(), c.store, c.dir))
	if got := strings.Join(c.records(), ", "); got != "saved 1, deleted 1" || c.state(1) != "" {
		t.Errorf("after the next round: %q, checkpoint 1: %q", got, c.state(1))
	}
}

// A copy tells when something was recorded last.
func TestTimeOfTheRecord(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	a.end()
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	pieces, err := filepath.Glob(strings.TrimPrefix(u, "file://") + "/journal/*/0*")
	a.do(err)
	for _, p := range pieces {
		a.do(os.Chtimes(p, then, then))
	}
	b := on(t, u)
	b.do(mirror.FetchRecord(t.Context(), b.store, b.dir))
	files, err := os.ReadDir(b.dir.Journal())
	b.do(err)
	if info, err := files[0].Info(); len(pieces) == 0 || err != nil || !info.ModTime().Equal(then) {
		t.Errorf("%v, not %v: %v", info.ModTime(), then, err)
	}
}

// A failing storage is tried again, and loses nothing.
func TestStorageFails(t *testing.T) {
	t.Parallel()
	u := shared(t)
	a := on(t, u).begin()
	a.record("one")
	mirror.Round(t, a.mirror)
	dir := strings.TrimPrefix(u, "file://")
	folder, file := filepath.Join(dir, "journal"), filepath.Join(t.TempDir(), "file")
	a.do(os.WriteFile(file, nil, 0o600))
	a.do(exchange(folder, file)) // no folder: nothing can be written below
	a.record("two")
	if err := mirror.TryRound(t, a.mirror); err == nil {
		t.Error("a round into a store that fails went well")
	}
	a.do(exchange(folder, file))
	a.end()
	b := on(t, u).begin()
	if got := strings.Join(b.records(), " "); got != "one two" {
		t.Errorf("%q", got)
	}
	b.end()
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for storage, want := range map[string]string{
		"s3://bucket":                       "s3://bucket/name",
		"s3://bucket/a/b/?region=eu-west-1": "s3://bucket/a/b/name?region=eu-west-1",
		"file:///mnt/shared":                "file:///mnt/shared/name",
	} {
		got := mirror.Join(storage, "name")
		if got != want {
			t.Errorf("%s: %s, not %s", storage, got, want)
		}
		if _, name, err := mirror.Split(got); err != nil || name != "name" {
			t.Errorf("%s: %s, %v", got, name, err)
		}
	}
	if _, err := mirror.Open(t.Context(), "s3://key:secret@bucket/name"); err == nil ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	for url, want := range map[string]string{"file://" + t.TempDir() + "/name?region=eu": "remove ?region=eu",
		"file://host/name": "expected a whole path", "file://": "expected a whole path"} {
		if _, err := mirror.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// Spellings of the same URL are one, and different places are not.
func TestCanonical(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, same := range [][]string{
		{"file://" + folder + "/a b", "file://" + folder + "/a%20b", "file://" + folder + "//a%20b/",
			"file://" + link + "/a b"},
		{"s3://b/p/n?region=x&endpoint=http://h:1", "s3://b//p/n/?endpoint=http%3A%2F%2Fh%3A1&region=x"},
		{"s3://b/p/n"}, {"s3://c/p/n"}, {"s3://b/p/n?region=y"},
	} {
		for _, url := range same {
			got := mirror.Canonical(url)
			if got != mirror.Canonical(same[0]) || seen[got] != "" && seen[got] != same[0] {
				t.Errorf("%s: %s", url, got)
			}
			seen[got] = same[0]
		}
	}
	if name := mirror.Name("s3://b/p/n?endpoint=http://h/x"); name != "n" {
		t.Error(name)
	}
}
