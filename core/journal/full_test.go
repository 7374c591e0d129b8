package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
	"github.com/tunehost/tunehost/internal/plainfile"
)

// B-087: wherever the disk fills up, no recorded event is damaged, and the same Append works when
// there is space.
func TestFullDiskAtEveryByte(t *testing.T) {
	for room := range int64(1500) {
		fs := journaltest.New(uint64(room))
		j := mustCreate(t, fs)
		mustAppend(t, j, 3)
		fs.SetRoom(room)
		fillUp(t, j, 25)
		must(t, j.Sync())
		fs.SetRoom(-1)
		for j.Next() <= 25 {
			mustAppend(t, j, 1)
		}
		must(t, j.Close())
		all, opened, err := verify(fs)
		if err != nil || !opened.Clean || !equal(all, batch(0, 1, 25)) {
			t.Fatalf("room %d: %d events, %+v, %v", room, len(all), opened, err)
		}
	}
}

// B-087: a file system may need space even to cut off what was not whole. The same Append works when there is space,
// also in another segment, and what a host leaves that ends before is cut by the next one.
func TestFullDiskInTruncate(t *testing.T) {
	for room := range int64(900) {
		for _, ends := range []bool{false, true} {
			fs := journaltest.New(uint64(room))
			j := mustCreate(t, fs)
			mustAppend(t, j, 3)
			fs.SetRoom(room)
			fs.FailTruncate(3)
			for range 3 {
				fillUp(t, j, 25)
			}
			if !ends {
				fillUp(t, j, 25)
				fs.SetRoom(-1)
				for j.Next() <= 25 {
					mustAppend(t, j, 1)
				}
			}
			last := j.Next() - 1
			must(t, j.Close())
			fs.SetRoom(-1)
			fs.FailTruncate(0)
			j, _, err := journal.Open(fs, testOpts, nil)
			if err != nil || j.Next() != last+1 {
				t.Fatalf("room %d: %v", room, err)
			}
			must(t, j.Close())
			if all, _, err := verify(fs); err != nil || !equal(all, batch(0, 1, int(last))) {
				t.Fatalf("room %d: %d events, %v", room, len(all), err)
			}
		}
	}
}

func fillUp(t *testing.T, j *journal.Journal, until uint64) {
	t.Helper()
	for j.Next() <= until {
		if _, err := j.Append(batch(0, int(j.Next()), 1)); err != nil {
			wantError(t, err, journal.ErrNoSpace)
			wantError(t, err, syscall.ENOSPC)
			return
		}
	}
}

// A full disk followed by a death: the partial frame may be there or not.
func TestFullDiskThenDeath(t *testing.T) {
	for room := range int64(700) {
		fs, h := journaltest.New(uint64(room)), &history{}
		must(t, h.life(fs))
		fs.SetRoom(room)
		err := h.life(fs)
		if isWrong(err) {
			t.Fatalf("room %d: %v", room, err)
		}
		fs.Die(journaltest.Death(room % 2))
		fs = fs.Restart(uint64(room))
		fs.SetRoom(-1)
		settle(t, fmt.Sprintf("room %d", room), fs, h)
	}
}

// A full disk while Open repairs the last segment: Open fails, loses nothing, and works later.
func TestFullDiskInOpen(t *testing.T) {
	for room := range int64(800) {
		fs := small(t, false)
		fs.SetRoom(room)
		j, _, err := journal.Open(fs, testOpts, nil)
		if err != nil {
			wantError(t, err, journal.ErrNoSpace)
			fs.SetRoom(-1)
			j, _, err = journal.Open(fs, testOpts, nil)
		}
		must(t, err)
		if j.Next() != 37 {
			t.Fatalf("room %d: next %d", room, j.Next())
		}
	}
}

// After a disk failure the journal fails permanently, and the acknowledged events are there when it
// is opened again.
func TestFailureIsFinal(t *testing.T) {
	for _, failure := range []journaltest.Failure{journaltest.IO, journaltest.Short} {
		for _, synced := range []bool{false, true} {
			t.Run(fmt.Sprint(failure, synced), func(t *testing.T) { failOnce(t, failure, synced) })
		}
	}
}

func failOnce(t *testing.T, failure journaltest.Failure, synced bool) {
	fs := journaltest.New(1)
	j := mustCreate(t, fs)
	mustAppend(t, j, 4)
	must(t, j.Sync())
	mustAppend(t, j, 1)
	var err error
	if fs.FailAt(fs.Ops()+1, failure); synced && failure == journaltest.IO {
		err = j.Sync()
	} else {
		_, err = j.Append(batch(0, 6, 1))
	}
	wantError(t, err, journal.ErrFailed)
	ops := fs.Ops()
	_, err = j.Append(batch(0, 6, 1))
	wantError(t, err, journal.ErrFailed)
	wantError(t, j.Sync(), journal.ErrFailed)
	wantError(t, j.Close(), journal.ErrFailed)
	if fs.Ops() != ops || j.Durable() != 5 {
		t.Errorf("the disk was asked again; durable is %d", j.Durable())
	}
	fs.Die(journaltest.Power)
	all, _, err := verify(fs.Restart(3))
	if err != nil || len(all) < 4 || !equal(all, batch(0, 1, len(all))) {
		t.Errorf("%d events, %v", len(all), err)
	}
}

// The kernel reports success for a second sync, and a process that opens the journal sees
// everything in the page cache. The process must still not append to data that is not on disk.
func TestPageCacheThatLies(t *testing.T) {
	for seed := range uint64(200) {
		fs, h := journaltest.New(seed), &history{}
		must(t, h.life(fs))
		h.epoch++
		j, err := h.open(fs)
		must(t, err)
		must(t, h.append(j, 3))
		fs.FailAt(fs.Ops()+1, journaltest.IO)
		wantError(t, h.sync(j), journal.ErrFailed)
		fs.Die(journaltest.Kill)
		fs = fs.Restart(seed)
		must(t, h.life(fs))
		fs.Die(journaltest.Power)
		settle(t, fmt.Sprintf("seed %d", seed), fs.Restart(seed), h)
	}
}

// A process is killed in Close, another one follows, then the power fails: the closing frame is
// torn in a segment that is not the last.
func TestClosingFrameTornInASealedSegment(t *testing.T) {
	for n := range 41 {
		fs := small(t, true)
		name := fs.Names()[len(fs.Names())-1]
		j, _, err := journal.Open(fs, testOpts, nil)
		must(t, err)
		mustAppend(t, j, 1)
		b := fs.ReadBytes(name)
		fs.WriteBytes(name, b[:len(b)-n])
		if all, _, err := verify(fs); err != nil || !equal(all, batch(0, 1, 37)) {
			t.Fatalf("%d bytes of the closing frame lost: %d events, %v", n, len(all), err)
		}
		var live [][]byte
		if err := readAll(journal.NewReader(fs), &live); err != nil || len(live) != 37 {
			t.Fatalf("%d bytes of the closing frame lost: reader has %d events, %v", n, len(live), err)
		}
	}
}

// A full disk at any operation of an Append that begins a segment: the Append can be repeated, also
// with another batch, or the failure is final.
func TestFullDiskAtEveryOperationOfRotation(t *testing.T) {
	for n := 1; n <= 7; n++ {
		fs := journaltest.New(1)
		j := mustCreate(t, fs)
		mustAppend(t, j, 8)
		fs.FailAt(fs.Ops()+n, journaltest.NoSpace)
		_, err := j.Append(batch(0, 9, 9))
		_, again := j.Append(batch(0, int(j.Next()), 1))
		if final := errors.Is(err, journal.ErrFailed); final != errors.Is(again, journal.ErrFailed) || !final &&
			again != nil {
			t.Fatalf("op %d: %v, and then %v", n, err, again)
		}
		next := j.Next()
		fs.Die(journaltest.Kill)
		all, opened, err := verify(fs.Restart(1))
		if err != nil || opened.Next < next || !equal(all, batch(0, 1, len(all))) {
			t.Fatalf("op %d: %d events, %v", n, len(all), err)
		}
	}
}

// If the partial write on a full disk cannot be cut off, the end of the file is unknown.
func TestFullDiskThatCannotBeTakenBack(t *testing.T) {
	fs := journaltest.New(1)
	j := mustCreate(t, fs)
	fs.FailAt(fs.Ops()+1, journaltest.NoSpace)
	fs.FailAt(fs.Ops()+2, journaltest.IO)
	_, err := j.Append(batch(0, 1, 1))
	wantError(t, err, journal.ErrFailed)
	wantError(t, err, syscall.EIO)
	_, err = j.Append(batch(0, 1, 1))
	wantError(t, err, journal.ErrFailed)
}

// The partial write of a large frame on a full disk is cut off, so that a smaller frame or the
// closing frame is last in the file.
func TestFullDiskLeavesNothingBehind(t *testing.T) {
	fs := journaltest.New(1)
	j := mustCreate(t, fs)
	fs.SetRoom(500)
	_, err := j.Append([][]byte{make([]byte, 1000)})
	wantError(t, err, journal.ErrNoSpace)
	mustAppend(t, j, 1)
	must(t, j.Close())
	if _, opened, err := verify(fs); err != nil || !opened.Clean || opened.Next != 2 {
		t.Errorf("%+v, %v", opened, err)
	}
}

// B-155: temporary segments of a dead process are removed; other files stay, whatever their names.
func TestTemporariesAreRemoved(t *testing.T) {
	fs := small(t, false)
	segment := "00000000000000000001.tj"
	header := fs.ReadBytes(segment)[:64]
	other := testRun
	other[0]++
	left := map[string][]byte{
		plainfile.TemporaryOf(segment, testRun):                   []byte("half"),
		plainfile.TemporaryOf("00000000000000000099.tj", testRun): {},
		segment + ".tmp": header, // of an earlier version
	}
	mine := map[string][]byte{
		"00000000000000000002.tj.tmp": header, // of another segment
		"00000000000000000003.tj.tmp": []byte("mine"), "00000000000000000004.tj.tmp": {}, "notes.tmp": []byte("mine"),
		plainfile.TemporaryOf(segment, other): []byte("mine"), plainfile.TemporaryOf("run.json",
			testRun): []byte("mine"),
	}
	for _, files := range []map[string][]byte{left, mine} {
		for name, content := range files {
			fs.WriteBytes(name, content)
		}
	}
	_, _, err := journal.Open(fs, testOpts, nil)
	must(t, err)
	for name := range left {
		if fs.ReadBytes(name) != nil {
			t.Errorf("%s is left", name)
		}
	}
	for name, content := range mine {
		if got := fs.ReadBytes(name); got == nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// B-155: a user's copy of a complete segment, under a temporary name of an earlier version, stays.
func TestCopyOfSegmentStays(t *testing.T) {
	fs := small(t, false)
	whole := fs.ReadBytes("00000000000000000001.tj")
	fs.WriteBytes("00000000000000000001.tj.tmp", whole)
	j, _, err := journal.Open(fs, testOpts, nil)
	must(t, err)
	for range 5 {
		mustAppend(t, j, 9)
	}
	must(t, j.Close())
	if !bytes.Equal(fs.ReadBytes("00000000000000000001.tj.tmp"), whole) {
		t.Error("it is gone")
	}
}

// A disk that fails at any operation of Open, or from then on, makes Open fail. It is never taken
// for damage or for a torn end, and afterwards all events are there.
func TestFailureAtEveryOperationOfOpen(t *testing.T) {
	whole := small(t, false)
	_, _, err := journal.Open(whole, testOpts, nil)
	must(t, err)
	for op := 1; op <= whole.Ops(); op++ {
		for _, forever := range []bool{false, true} {
			fs := small(t, false)
			for at := op; at == op || forever && at <= whole.Ops(); at++ {
				fs.FailAt(at, journaltest.IO)
			}
			_, opened, err := journal.Open(fs, testOpts, nil)
			wantError(t, err, syscall.EIO)
			if opened.Cut != nil {
				t.Fatalf("op %d: cut %v", op, opened.Cut)
			}
			fs.Die(journaltest.Power)
			fs = fs.Restart(uint64(op))
			if all, _, err := verify(fs); err != nil || !equal(all, batch(0, 1, 36)) {
				t.Fatalf("op %d: %d events, %v", op, len(all), err)
			}
		}
	}
}

// The same for a reader, which continues when the disk works again.
func TestFailureAtEveryOperationOfAReader(t *testing.T) {
	whole := small(t, true)
	var want [][]byte
	must(t, readAll(journal.NewReader(whole), &want))
	for op := 1; op <= whole.Ops(); op++ {
		fs := small(t, true)
		fs.FailAt(op, journaltest.IO)
		r := journal.NewReader(fs)
		var seen [][]byte
		wantError(t, readAll(r, &seen), syscall.EIO)
		if err := readAll(r, &seen); err != nil || !equal(seen, want) {
			t.Fatalf("op %d: %d events, %v", op, len(seen), err)
		}
	}
}
