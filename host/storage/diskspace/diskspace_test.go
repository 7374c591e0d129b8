package diskspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/clock/clocktest"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/storage/lack"
)

// B-087, B-122: a full disk, what the machine lacks and their end are said at every verbosity: otherwise a host that is
// silent would seem to hang.
func TestSaidAlways(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.ENOSPC: "warning: the disk is full: nothing is started, recorded or saved until there is space; free " +
			"some space and the experiment continues by itself\nwarning: the disk has space again; the experiment " +
			"continues\n",
		syscall.EMFILE: "warning: the machine has run out of a resource that the host needs (too many open files): ",
	} {
		var said bytes.Buffer
		screen := hostlog.NewScreen(&said, "")
		screen.Quiet()
		d := New(hostlog.Open(io.Discard, screen), clock.System{})
		tries, noted, full := 0, false, false
		d.Note = func(missing lack.Lack) { noted = missing == lack.Space }
		err := d.WhenRoom(nil, func() error {
			if tries++; tries == 1 {
				return cause
			}
			full = noted && d.Lacks() == lack.Space
			return nil
		})
		if full != (cause == syscall.ENOSPC) || noted || d.Lacks() != lack.Nothing {
			t.Errorf("%v: noted %v while it waited, and %v afterwards", cause, full, noted)
		}
		if err != nil || !strings.HasPrefix(said.String(), want) {
			t.Errorf("%v: %v, %q", cause, err, said.String())
		}
	}
}

// B-087: the host waits for a full disk, but not for a record that failed on one, which would never
// end.
func TestFailedRecordIsNotWaitedFor(t *testing.T) {
	fs := journaltest.New(1)
	j, err := journal.Create(fs, journal.Options{RunID: journal.RunID{1}})
	if err != nil {
		t.Fatal(err)
	}
	fs.SetRoom(10)
	if _, err := j.Append([][]byte{make([]byte, 100)}); !IsFull(err) {
		t.Fatalf("a full disk: %v", err)
	}
	fs.SetRoom(10)
	fs.FailAt(fs.Ops()+2, journaltest.IO) // the partial write cannot be truncated
	_, err = j.Append([][]byte{make([]byte, 100)})
	if IsFull(err) || !IsFull(fmt.Errorf("made: %w", syscall.ENOSPC)) {
		t.Fatalf("a record that failed: %v", err)
	}
}

// A host that cannot continue a record because the disk is full says what to do, and the record stays as it is.
func TestFullDiskAtResume(t *testing.T) {
	fs := journaltest.New(1)
	o := journal.Options{RunID: journal.RunID{1}}
	j, err := journal.Create(fs, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	fs.SetRoom(0)
	_, _, err = journal.Open(fs, o, func(uint64, [][]byte) error { return nil })
	if text := Advise(err).Error(); !errors.Is(err, journal.ErrNoSpace) ||
		!strings.HasSuffix(text, "; free some space on the disk (at least 1 MiB and one file), and run the same "+
			"command again") {
		t.Error(text)
	}
	for _, other := range []error{nil, syscall.EIO, syscall.EMFILE} {
		if err := Advise(other); err != other {
			t.Error(err)
		}
	}
	fs.SetRoom(1 << 20)
	if _, _, err := journal.Open(fs, o, func(uint64, [][]byte) error { return nil }); err != nil {
		t.Error(err)
	}
}

// A host with trials that hold all its descriptors waits for them for a minute: they may wait for the same.
func TestOwnLimitIsNotWaitedForWithoutEnd(t *testing.T) {
	d := New(hostlog.New(hclog.NewNullLogger()), clocktest.New(1000))
	began, tries := d.clock.Now(), 0
	err := d.WhenRoom(nil, func() error {
		if tries++; tries > 1000 {
			return nil
		}
		return syscall.EMFILE
	})
	if waited := d.clock.Since(began); err != syscall.EMFILE || d.Waits() || tries < 3 || waited < ownLimitFor {
		t.Errorf("%d tries in %v: %v; it waits: %v", tries, waited, err, d.Waits())
	}
}

// A file that may not grow is no full disk: the error names the limit, of a record as well as of a host that begins.
func TestLimitOfFileSize(t *testing.T) {
	err := fmt.Errorf("write record: %w", syscall.EFBIG)
	for _, said := range []error{TooLarge(err), Advise(err)} {
		if !errors.Is(said, syscall.EFBIG) || !strings.Contains(said.Error(), "(ulimit -f)") {
			t.Error(said)
		}
	}
	if err := TooLarge(syscall.ENOSPC); err != syscall.ENOSPC {
		t.Error(err)
	}
}
