package journaltest

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
)

func write(t *testing.T, f journal.File, offset int64, text string) {
	t.Helper()
	if n, err := f.WriteAt([]byte(text), offset); n != len(text) || err != nil {
		t.Fatal(n, err)
	}
}

func create(t *testing.T, fs *FS, name string) journal.File {
	t.Helper()
	f, err := fs.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// prepared has the durable file "a" of 600 bytes, plus 1200 unsynced bytes in it and an unsynced
// file "b".
func prepared(t *testing.T, seed uint64) *FS {
	t.Helper()
	fs := New(seed)
	f := create(t, fs, "a")
	write(t, f, 0, strings.Repeat("s", 600))
	if err := errors.Join(f.Sync(), fs.SyncDir()); err != nil {
		t.Fatal(err)
	}
	write(t, f, 600, strings.Repeat("u", 1200))
	write(t, create(t, fs, "b"), 0, "b")
	return fs
}

func TestKillKeepsThePageCache(t *testing.T) {
	fs := prepared(t, 1)
	fs.Die(Kill)
	if _, err := fs.List(); !errors.Is(err, ErrDead) {
		t.Error("a dead process listed a directory")
	}
	next := fs.Restart(1)
	if got := string(next.ReadBytes("a")); got != strings.Repeat("s", 600)+strings.Repeat("u", 1200) ||
		string(next.ReadBytes("b")) != "b" {
		t.Errorf("a has %d bytes, names %v", len(got), next.Names())
	}
	next.Die(Power) // data that was not synced before the kill is still not synced
	lost := 0
	for seed := range uint64(50) {
		if after := next.Restart(seed); string(after.ReadBytes("a")) != string(fs.ReadBytes("a")) {
			lost++
		}
	}
	if lost == 0 {
		t.Error("the kill made things durable")
	}
}

// Power loss never changes synced data. In 300 tries it leaves of the rest: nothing, all, a part,
// sectors, zeros, garbage.
func TestPowerLeavesAnythingUnsynced(t *testing.T) {
	fs := prepared(t, 1)
	fs.Die(Power)
	seen := map[string]bool{}
	for seed := range uint64(300) {
		next := fs.Restart(seed)
		a := string(next.ReadBytes("a"))
		if !strings.HasPrefix(a, strings.Repeat("s", 600)) {
			t.Fatalf("seed %d: synced bytes are %q", seed, a[:min(600, len(a))])
		}
		seen[kindOf(a[600:])] = true
		seen[strings.Join(next.Names(), "+")] = true
	}
	for _, kind := range []string{"nothing", "all", "part", "sectors", "zeros", "garbage", "a", "a+b"} {
		if !seen[kind] {
			t.Errorf("never: %s", kind)
		}
	}
}

func kindOf(rest string) string {
	u, zero := strings.Count(rest, "u"), strings.Count(rest, "\x00")
	switch {
	case rest == "":
		return "nothing"
	case u == 1200:
		return "all"
	case u == len(rest):
		return "part"
	case zero == len(rest):
		return "zeros"
	case u+zero == len(rest):
		return "sectors"
	}
	return "garbage"
}

func TestRestartIsDrawnFromItsSeed(t *testing.T) {
	fs := prepared(t, 1)
	fs.Die(Power)
	one, two := fs.Restart(7), fs.Restart(7)
	if string(one.ReadBytes("a")) != string(two.ReadBytes("a")) || !slices.Equal(one.Names(), two.Names()) {
		t.Error("the same seed left two directories")
	}
}

// A failed sync loses data, and the next one reports success.
func TestFailedSyncLosesData(t *testing.T) {
	lost, evicted := 0, 0
	for seed := range uint64(60) {
		fs := New(seed)
		f := create(t, fs, "a")
		write(t, f, 0, "data")
		fs.FailAt(fs.Ops()+1, IO)
		if err := f.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		if err := errors.Join(f.Sync(), fs.SyncDir()); err != nil || string(fs.ReadBytes("a")) != "data" {
			t.Fatal(err)
		}
		fs.Die(Kill)
		if string(fs.Restart(seed).ReadBytes("a")) != "data" {
			evicted++
		}
		fs.Die(Power)
		if string(fs.Restart(seed).ReadBytes("a")) != "data" {
			lost++
		}
	}
	if lost < 20 || evicted < 10 || evicted > lost {
		t.Errorf("%d of 60 lost, %d of 60 evicted", lost, evicted)
	}
}

func TestRoom(t *testing.T) {
	fs := New(1)
	f := create(t, fs, "a")
	fs.SetRoom(6)
	write(t, f, 0, "1234")
	if n, err := f.WriteAt([]byte("5678"), 4); n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(n, err)
	}
	if err := f.Truncate(3); err != nil {
		t.Fatal(err)
	}
	write(t, f, 3, "xyz") // the space was returned
	if got := string(fs.ReadBytes("a")); got != "123xyz" {
		t.Error(got)
	}
}

func TestDeathAtAnOperation(t *testing.T) {
	for phase, want := range map[Phase]int{Before: 0, After: 4} {
		fs := New(1)
		f := create(t, fs, "a")
		fs.DieAt(2, Kill, phase)
		if _, err := f.WriteAt([]byte("data"), 0); !errors.Is(err, ErrDead) || !fs.Dead() {
			t.Fatal(err)
		}
		if got := len(fs.Restart(1).ReadBytes("a")); got != want {
			t.Errorf("phase %d: %d bytes", phase, got)
		}
		if err := f.Sync(); !errors.Is(err, ErrDead) || fs.Ops() != 2 {
			t.Error("a dead process synced")
		}
	}
}

func TestMissingFiles(t *testing.T) {
	fs := New(1)
	_, err := fs.Open("none")
	for _, err := range []error{err, fs.Rename("none", "b"), fs.Remove("none")} {
		if !errors.Is(err, syscall.ENOENT) && !strings.Contains(err.Error(), "not exist") {
			t.Error(err)
		}
	}
}
