//go:build unix

package journal_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core/journal"
)

func makeDir(t *testing.T, path string) *journal.Dir {
	t.Helper()
	dir, err := journal.MakeDir(path)
	must(t, err)
	t.Cleanup(func() { _ = dir.Close() })
	return dir
}

func TestDirIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "journal")
	dir := makeDir(t, path)
	mustAppend(t, mustCreate(t, dir), 3)
	for _, c := range []struct {
		path string
		want os.FileMode
	}{{path, 0o700 | os.ModeDir}, {filepath.Join(path, "00000000000000000001.tj"), 0o600}} {
		if info, err := os.Stat(c.path); err != nil || info.Mode() != c.want {
			t.Errorf("%s: %v, %v", c.path, info.Mode(), err)
		}
	}
}

// B-080: writes to a removed or moved directory are not recorded, and the journal reports it.
func TestDirTakenAway(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"directory removed": os.RemoveAll,
		"directory moved":   func(path string) error { return os.Rename(path, path+".moved") },
		"directory of another": func(path string) error {
			return errors.Join(os.Rename(path, path+".moved"), os.Mkdir(path, 0o700))
		},
		"segment removed": func(path string) error { return os.Remove(filepath.Join(path, "00000000000000000001.tj")) },
		"parent moved": func(path string) error {
			return os.Rename(filepath.Dir(path),
				filepath.Dir(path)+".moved")
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run", "journal")
			j := mustCreate(t, makeDir(t, path))
			mustAppend(t, j, 1)
			must(t, j.Sync())
			must(t, take(path))
			mustAppend(t, j, 1)
			err := j.Sync()
			wantError(t, err, journal.ErrFailed)
			if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "removed or moved away") {
				t.Error(err)
			}
		})
	}
}

// Truncation by another process is reported at the next append or sync and at the last check; later
// writes cannot repair it.
func TestDirCutByAnother(t *testing.T) {
	for name, next := range map[string]func(*journal.Journal) error{
		"append": func(j *journal.Journal) error { _, err := j.Append(batch(0, 2, 1)); return err },
		"check":  (*journal.Journal).Check,
		"close":  (*journal.Journal).Close,
	} {
		path := filepath.Join(t.TempDir(), "journal")
		j := mustCreate(t, makeDir(t, path))
		mustAppend(t, j, 1)
		must(t, j.Sync())
		must(t, j.Check())
		must(t, os.Truncate(filepath.Join(path, "00000000000000000001.tj"), 70))
		err := next(j)
		wantError(t, err, journal.ErrFailed)
		if !strings.Contains(err.Error(), "was changed by another program: it has 70 bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDirDoesNotLeadOut(t *testing.T) {
	path := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(outside, []byte("secret"), 0o600))
	must(t, os.Symlink(outside, filepath.Join(path, "00000000000000000001.tj")))
	dir := makeDir(t, path)
	// A record without this file would look gone.
	names, err := dir.List()
	if len(names) != 0 || err == nil || !strings.Contains(err.Error(), "0001.tj is a link: ") {
		t.Errorf("a link in the place of a segment: %v, %v", names, err)
	}
	for _, name := range []string{"00000000000000000001.tj", "../" + filepath.Base(path), outside} {
		if _, err := dir.Open(name); err == nil {
			t.Errorf("%s was opened", name)
		}
		if _, err := dir.Create(name); err == nil {
			t.Errorf("%s was created", name)
		}
	}
}

func TestOpenDirMakesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	if _, err := journal.OpenDir(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("made")
	}
}

// In a real directory: append, rotate and sync from two goroutines, while a third reads.
func TestAppendSyncAndReadTogether(t *testing.T) {
	dir := makeDir(t, t.TempDir())
	j, err := journal.Create(dir, journal.Options{RunID: testRun, SegmentBytes: 4096})
	must(t, err)
	const events = 3000
	var group sync.WaitGroup
	group.Go(func() {
		for j.Durable() <= events {
			if err := j.Sync(); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var seen [][]byte
	group.Go(func() {
		for r := journal.NewReader(dir); len(seen) < events; {
			if err := readAll(r, &seen); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for j.Next() <= events {
		mustAppend(t, j, 1+int(j.Next()%7))
	}
	group.Wait()
	must(t, j.Close())
	if !equal(seen[:events], batch(0, 1, events)) {
		t.Error("the reader has other events")
	}
}

// B-085: a second holder is refused; the error names the first.
func TestLockDir(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	first, err := journal.LockDir(dir, now)
	must(t, err)
	_, err = journal.LockDir(dir, now)
	var locked *journal.LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || locked.Started != "2026-11-21T12:00:00Z" {
		t.Fatalf("second lock: %v", err)
	}
	wantText(t, err, fmt.Sprintf("%s is in use by process %d on ", dir, os.Getpid()))
	must(t, os.Truncate(filepath.Join(dir, "LOCK"), 0))
	_, err = journal.LockDir(dir, now)
	wantText(t, err, "in use by another process")
	must(t, first.Unlock())
	second, err := journal.LockDir(dir, now)
	must(t, err)
	must(t, second.Unlock())
}

// A lock whose file is gone is void, and the error says whether the whole directory is.
func TestLockTakenAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	must(t, os.Mkdir(dir, 0o700))
	lock, err := journal.LockDir(dir, time.Unix(0, 0))
	must(t, err)
	defer lock.Unlock()
	must(t, lock.Check())
	must(t, os.Rename(dir, dir+".away"))
	wantText(t, lock.Check(), dir+" was removed or moved away")
	must(t, os.Rename(dir+".away", dir))
	must(t, lock.Check())
	must(t, os.Remove(filepath.Join(dir, "LOCK")))
	wantText(t, lock.Check(), "LOCK was removed or replaced")
}

// A LOCK file without a lock means nothing, whatever it contains.
func TestStaleLockFile(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "LOCK"), []byte("pid 1\nstarted never\nhost here\n"), 0o600))
	lock, err := journal.LockDir(dir, time.Unix(0, 0))
	must(t, err)
	must(t, lock.Unlock())
}

// B-085: a dead holder's lock becomes free soon: a process that it was just starting keeps it for a
// moment.
func TestLockOfTheDead(t *testing.T) {
	dir := t.TempDir()
	dead := exec.Command("true")
	must(t, dead.Run())
	host, err := os.Hostname()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "LOCK"),
		fmt.Appendf(nil, "pid %d\nstarted then\nhost %s\n", dead.Process.Pid, host), 0o600))
	child, err := os.Open(filepath.Join(dir, "LOCK"))
	must(t, err)
	must(t, syscall.Flock(int(child.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
	time.AfterFunc(500*time.Millisecond, func() { _ = child.Close() })
	second, err := journal.LockDir(dir, time.Unix(0, 0))
	must(t, err)
	must(t, second.Unlock())
}

const childDir = "JOURNAL_TEST_CHILD_DIR"

// TestMain is also the process that TestKillNine kills.
func TestMain(m *testing.M) {
	if path := os.Getenv(childDir); path != "" {
		childAppends(path)
	}
	os.Exit(m.Run())
}

// childAppends prints the events it has appended until it is killed.
func childAppends(path string) {
	_, err := journal.LockDir(path, time.Unix(0, 0))
	exitIf(err)
	dir, err := journal.OpenDir(path)
	exitIf(err)
	j, _, err := journal.Open(dir, testOpts, nil)
	exitIf(err)
	for {
		_, err := j.Append(batch(0, int(j.Next()), 3))
		exitIf(err)
		fmt.Println(j.Next())
	}
}

func exitIf(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// B-080: a real process that is killed with SIGKILL while it appends loses its lock and no event
// that it reported as appended.
func TestKillNine(t *testing.T) {
	path := t.TempDir()
	dir := makeDir(t, path)
	must(t, mustCreate(t, dir).Close())
	for range 10 {
		said := runChild(t, path)
		lock, err := journal.LockDir(path, time.Unix(0, 0))
		must(t, err)
		all, opened, err := verify(dir)
		if err != nil || opened.Next < said || !equal(all, batch(0, 1, len(all))) {
			t.Fatalf("said %d, opened %+v, %v", said, opened, err)
		}
		must(t, lock.Unlock())
	}
}

// runChild kills the child after some lines and returns the last reported number.
func runChild(t *testing.T, path string) (said uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if _, err := fmt.Sscan(strings.TrimSpace(lines.Text()), &said); err != nil {
			t.Fatalf("child: %s", lines.Text())
		}
		if n == 50 {
			must(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // killed
	return said
}

func TestHolder(t *testing.T) {
	dir := t.TempDir()
	if held, err := journal.Holder(dir); held != nil || err != nil {
		t.Errorf("nobody holds it: %v, %v", held, err)
	}
	lock, err := journal.LockDir(dir, time.Unix(0, 0))
	must(t, err)
	if held, err := journal.Holder(dir); err != nil || held == nil || held.PID != os.Getpid() {
		t.Errorf("this process holds it: %v, %v", held, err)
	}
	must(t, lock.Unlock())
	if held, err := journal.Holder(dir); held != nil || err != nil {
		t.Errorf("it was given back: %v, %v", held, err)
	}
}

// Holder never prevents another process from taking the lock.
func TestHolderDoesNotDisturb(t *testing.T) {
	dir := t.TempDir()
	done := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if _, err := journal.Holder(dir); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	for range 50 {
		lock, err := journal.LockDir(dir, time.Unix(0, 0))
		must(t, err)
		must(t, lock.Unlock())
	}
	close(done)
	looking.Wait()
}

// Holder does not block on pipes in a foreign directory.
func TestHolderDoesNotWaitForAPipe(t *testing.T) {
	path := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(path, "LOCK"), 0o600))
	if held, err := journal.Holder(path); held != nil {
		t.Errorf("%v, %v", held, err)
	}
}

// Who has the lock for moments does not make others fail, which wait; who has it for long is named at once.
func TestLockBriefly(t *testing.T) {
	dir := t.TempDir()
	brief, err := journal.LockBriefly(dir, time.Now())
	must(t, err)
	taken := make(chan error, 1)
	go func() {
		l, err := journal.LockDir(dir, time.Now())
		if err == nil {
			err = l.Unlock()
		}
		taken <- err
	}()
	time.Sleep(500 * time.Millisecond) // five times as long as others are waited for
	select {
	case err := <-taken:
		t.Fatalf("taken while somebody has it: %v", err)
	default:
	}
	must(t, brief.Unlock())
	must(t, <-taken)
	long, err := journal.LockDir(dir, time.Now())
	must(t, err)
	_, err = journal.LockBriefly(dir, time.Now())
	wantText(t, err, "is in use by process")
	must(t, long.Unlock())
}
