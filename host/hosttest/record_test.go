package hosttest_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/steer/unixsock"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
)

// wants checks that the host has said something.
func wants(t *testing.T, said string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not in what it said:\n%s", part, said)
		}
	}
}

// B-085
func TestSecondHost(t *testing.T) {
	t.Parallel()
	x := write(t, held, nil)
	p := x.start(t)
	x.awaitResults(t, p, 1)
	wants(t, x.run(t, exitUser), fmt.Sprintf("is in use by process %d", p.cmd.Process.Pid), "`tunehost interrupt ")
	x.letGo(t)
	p.ends(t, 0)
	hosttest.CheckFinished(t, x.dir, 5)
}

// segments are the files of the record, in order.
func (x *experiment) segments(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(x.dir, "journal", "*.tj"))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	slices.Sort(list)
	return list
}

// B-086: a torn end is cut off with a warning, and the experiment continues.
func TestTornRecord(t *testing.T) {
	t.Parallel()
	x := write(t, held, nil)
	p := x.start(t)
	x.awaitResults(t, p, 3)
	p.kill(t)
	x.letGo(t)
	list := x.segments(t)
	last := list[len(list)-1]
	text, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	put(t, last, string(text[:len(text)-3]))
	wants(t, x.run(t, 0), "torn by a crash", filepath.Base(last))
	hosttest.CheckFinished(t, x.dir, 5)
	hosttest.CheckReplay(t, x.dir, plugged)
}

// B-086: damage in the middle is the user's to mend, and nothing is overwritten.
func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	x := interrupted(t, held, 3)
	first := x.segments(t)[0]
	text, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 0x40
	if err := os.WriteFile(first, text, 0o600); err != nil {
		t.Fatal(err)
	}
	before := x.sums(t)
	said := x.run(t, exitUser)
	wants(t, said, filepath.Base(first), "damaged at byte")
	if strings.Contains(said, "torn") {
		t.Error("it took damage for a torn end:\n" + said)
	}
	if after := x.sums(t); !slices.Equal(before, after) {
		t.Errorf("files were changed:\n%q\n%q", before, after)
	}
}

// sums are checksums of all files but the host's log and its lock.
func (x *experiment) sums(t *testing.T) (list []string) {
	t.Helper()
	err := filepath.WalkDir(x.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "host.log" || d.Name() == "LOCK" {
			return err
		}
		text, err := os.ReadFile(path)
		list = append(list, fmt.Sprintf("%s %x", path, sha256.Sum256(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// B-080: a host may die between any two of the files that an experiment begins
// with.
func TestBegunByHalf(t *testing.T) {
	t.Parallel()
	x := write(t, long, nil)
	x.emptyRecord(t, journal.RunID{1})
	x.run(t, 0)
	hosttest.CheckFinished(t, x.dir, 5)

	// Everything was there but the first event.
	if err := errors.Join(os.RemoveAll(filepath.Join(x.dir, "journal")), os.RemoveAll(filepath.Join(x.dir, "trials")),
		os.Remove(filepath.Join(x.dir, ".reported"))); err != nil {
		t.Fatal(err)
	}
	x.emptyRecord(t, x.runID(t))
	x.run(t, 0)
	hosttest.CheckFinished(t, x.dir, 5)
	hosttest.CheckReplay(t, x.dir, plugged)

	// A record that has events is never begun anew.
	if err := os.Remove(filepath.Join(x.dir, "experiment.yaml")); err != nil {
		t.Fatal(err)
	}
	before := x.segments(t)
	wants(t, x.run(t, exitUser), "experiment.yaml is gone", "put it back")
	if after := x.segments(t); !slices.Equal(before, after) {
		t.Errorf("the record was %q and is %q", before, after)
	}
}

func (x *experiment) emptyRecord(t *testing.T, id journal.RunID) {
	t.Helper()
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// A host has locked the directory before it makes anything in it.
	err := os.WriteFile(filepath.Join(x.dir, "LOCK"), nil, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := journal.MakeDir(filepath.Join(x.dir, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(dir, journal.Options{RunID: id})
	if err = errors.Join(err, j.Close(), dir.Close()); err != nil {
		t.Fatal(err)
	}
}

func (x *experiment) runID(t *testing.T) journal.RunID {
	t.Helper()
	d, err := storage.At(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	run, _, err := runfile.Read(d)
	if err != nil {
		t.Fatal(err)
	}
	id, err := run.ID()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// B-080, B-025: a host whose record is taken from under it stops with an error, in
// one line, and nothing of it continues: what would happen then, nobody could continue
// with.
func TestRecordTakenAway(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(x *experiment) error{
		"record": func(x *experiment) error { return os.RemoveAll(filepath.Join(x.dir, "journal")) },
		"file":   func(x *experiment) error { return os.Remove(x.segments(t)[0]) },
		"all":    func(x *experiment) error { return os.Rename(x.dir, x.dir+".away") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := write(t, endless, nil)
			p := x.start(t)
			x.awaitResults(t, p, 3)
			if err := take(x); err != nil {
				t.Fatal(err)
			}
			said := p.ends(t, exitFailed)
			wants(t, said, "everything is stopped", "was removed or moved away")
			if n := strings.Count(said, "removed or moved away"); n != 1 {
				t.Errorf("it says so %d times:\n%s", n, said)
			}
			none(t, x)
			if name == "record" {
				wants(t, x.run(t, exitUser), "the experiment's record is gone", "put it back")
			}
		})
	}
}

// A record is not begun among files that somebody else has put there (B-155).
func TestRecordCannotBegin(t *testing.T) {
	t.Parallel()
	x := write(t, long, nil)
	if err := os.MkdirAll(filepath.Join(x.dir, "journal", "00000000000000000001.tj.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	said := x.run(t, exitUser)
	wants(t, said, "journal exists, but no experiment that it could belong to",
		"give the experiment another --name or --storage")
	if strings.Contains(said, "panic") {
		t.Error(said)
	}
}

// Where no trial can have a directory, none fails for that: the host stops with an
// error, and continues once it is mended.
func TestTrialsHaveNoPlace(t *testing.T) {
	t.Parallel()
	x := write(t, strings.Replace(held, "checkpoint: {every: 10}", "concurrency: 1", 1), nil)
	p := x.start(t)
	x.awaitResults(t, p, 1)
	trials := filepath.Join(x.dir, "trials")
	if err := os.Rename(trials, trials+".away"); err != nil {
		t.Fatal(err)
	}
	x.letGo(t)
	wants(t, p.ends(t, exitFailed), "no trial can", trials+" was removed or moved away", "put it back and resume")
	none(t, x)
	if err := os.Rename(trials+".away", trials); err != nil {
		t.Fatal(err)
	}
	x.run(t, 0)
	hosttest.CheckFinished(t, x.dir, 5)
}

// B-087: a full disk is said, waited for, and harms nothing: neither the record
// nor any trial.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	x := write(t, strings.Replace(held, "checkpoint: {every: 10}", "checkpoint: {every: 5, keep: 1}", 1), nil)
	x.onSmallDisk(t)
	p := x.start(t)
	x.awaitResults(t, p, 1)
	ballast := x.fill(t)
	x.letGo(t)
	x.await(t, p, func() bool { return strings.Contains(p.out.String(), "disk is full") })
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	wants(t, p.ends(t, 0), "the disk has space again")
	hosttest.CheckFinished(t, x.dir, 5)
	hosttest.CheckReplay(t, x.dir, plugged)
}

// B-087, B-024: on a full disk an interrupt is obeyed, as a signal and as a request, and what was recorded is there.
func TestInterruptOnFullDisk(t *testing.T) {
	t.Parallel()
	t.Run("signal", func(t *testing.T) {
		t.Parallel()
		interruptOnFullDisk(t, func(_ *experiment, p *process) { p.signal(t, syscall.SIGINT) })
	})
	t.Run("socket", func(t *testing.T) {
		t.Parallel()
		interruptOnFullDisk(t, func(x *experiment, _ *process) {
			host, err := unixsock.Dial(x.look(t).Dir)
			if err != nil {
				t.Fatal(err)
			}
			defer host.Close()
			// No trial comes of this later: the caller counts them.
			if _, err := host.Do(steer.Add{Params: []byte(`{}`)}); err == nil ||
				!strings.Contains(err.Error(), "the disk is full (less than") {
				t.Errorf("a trial was added on a full disk: %v", err)
			}
			if _, err := host.Do(steer.Interrupt{}); err != nil {
				t.Error(err)
			}
		})
	})
}

// B-087, B-024: a host that can record and cannot save obeys an interrupt, too: without an inode no checkpoint can be
// made, and the trials continue from their last ones.
func TestInterruptWithoutInodes(t *testing.T) {
	t.Parallel()
	x := write(t, held+"stop_grace: 500ms\n", nil)
	x.onDisk(t, "size=2m,nr_inodes=200")
	p := x.start(t)
	x.awaitResults(t, p, 1)
	ballast := x.fillInodes(t)
	p.signal(t, syscall.SIGINT)
	wants(t, p.ends(t, exitFailed), "no inode is free", "the host was told to end")
	if err := os.RemoveAll(ballast); err != nil {
		t.Fatal(err)
	}
	x.letGo(t)
	x.run(t, 0)
	hosttest.CheckFinished(t, x.dir, 5)
	hosttest.CheckReplay(t, x.dir, plugged)
}

func interruptOnFullDisk(t *testing.T, interrupt func(*experiment, *process)) {
	x := write(t, held, nil)
	x.onSmallDisk(t)
	p := x.start(t)
	x.awaitResults(t, p, 1)
	ballast := x.fill(t)
	x.letGo(t)
	x.await(t, p, func() bool { return strings.Contains(p.out.String(), "disk is full") })
	interrupt(x, p)
	if got := <-p.exit; got != exitFailed && got != exitInterrupted { // a last page may have had room
		t.Fatalf("the host ended with status %d:\n%s", got, p.out.String())
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	x.run(t, 0)
	hosttest.CheckFinished(t, x.dir, 5)
	hosttest.CheckReplay(t, x.dir, plugged)
}

// onSmallDisk puts the experiment's storage on a file system of its own.
func (x *experiment) onSmallDisk(t *testing.T) {
	t.Helper()
	x.onDisk(t, "size=2m")
}

func (x *experiment) onDisk(t *testing.T, options string) {
	t.Helper()
	if err := os.Mkdir(x.Storage, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", x.Storage, "tmpfs", 0, options); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(x.Storage, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// fillInodes takes all inodes that are left.
func (x *experiment) fillInodes(t *testing.T) (ballast string) {
	t.Helper()
	ballast = filepath.Join(x.Storage, "ballast")
	err := os.Mkdir(ballast, 0o700)
	for i := 0; err == nil; i++ {
		err = os.WriteFile(filepath.Join(ballast, strconv.Itoa(i)), nil, 0o600)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return ballast
}

// fill takes all room that is left.
func (x *experiment) fill(t *testing.T) (ballast string) {
	t.Helper()
	ballast = filepath.Join(x.Storage, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 16; size > 0; size >>= 1 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	return ballast
}
