package files

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

const testTrials = 4

// draw makes a story of a few trials that report, restart, pause and end.
func draw(t *rapid.T, dir string) []view.Event {
	s := &story{dir: dir}
	var attempts, iterations [testTrials]uint64
	var completed [testTrials]bool
	for range rapid.IntRange(1, 40).Draw(t, "events") {
		trial := rapid.IntRange(0, testTrials-1).Draw(t, "trial")
		if completed[trial] {
			continue // nothing follows
		}
		no, attempt := core.TrialNo(trial), uint32(attempts[trial])
		switch move := rapid.IntRange(0, 11).Draw(t, "move"); {
		case attempt == 0 || move == 0:
			attempts[trial]++
			iterations[trial] = rapid.Uint64Range(0, iterations[trial]).Draw(t, "restored")
			s.start(no, attempt+1, iterations[trial])
		case move == 1:
			s.tell(core.SawPaused, no, attempt)
		case move == 2:
			s.retry(no, attempt, "it broke\n\nbadly")
		case move == 3:
			completed[trial] = true
			s.tell(core.SawCompleted, no, attempt)
		default:
			iterations[trial] += rapid.Uint64Range(0, 2).Draw(t, "step") // an iteration may repeat
			metrics := []view.Metric{acc(0.5), {Name: "a"}, {Name: "b"}, {Name: "c"}}
			s.result(no, attempt, iterations[trial],
				metrics[rapid.IntRange(0, 2).Draw(t, "from"):rapid.IntRange(2, 4).Draw(t, "to")]...)
		}
	}
	return s.events
}

// contents returns all files below dir except the position.
func contents(t *rapid.T, dir string) map[string]string {
	all := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "trial*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(dir, path)
		all[rel] = string(text)
	}
	return all
}

// reportIn reports the events in batches of one to ten.
func reportIn(t *rapid.T, r *Reporter, events []view.Event) {
	for len(events) > 0 {
		n := rapid.IntRange(1, min(10, len(events))).Draw(t, "batch")
		if err := r.Report(events[:n]); err != nil {
			t.Fatal(err)
		}
		events = events[n:]
	}
}

func closeReporter(t *rapid.T, r *Reporter) {
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// tear cuts bytes off the end of some files, as a crash does.
func tear(t *rapid.T, dir string) {
	for _, path := range slices.Sorted(maps.Keys(contents(t, dir))) {
		path = filepath.Join(dir, path)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, rapid.Int64Range(0, info.Size()).Draw(t, "torn at")); err != nil {
			t.Fatal(err)
		}
	}
}

// After any crash, repeating the events makes the files that would exist without the crash. B-080,
// B-127
func TestAfterACrashNothingIsDoubledOrLost(t *testing.T) {
	root := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		whole, crashed := filepath.Join(root, fmt.Sprint(run), "whole"), filepath.Join(root, fmt.Sprint(run), "crashed")
		makeTrials(t, whole, testTrials)
		makeTrials(t, crashed, testTrials)
		events := draw(rt, whole)
		r := newReporter(whole)
		reportIn(rt, r, events)
		closeReporter(rt, r)

		for i := range events {
			events[i].Trial.Dir = trialDir(crashed, events[i].Trial.Number)
		}
		for range rapid.IntRange(1, 3).Draw(rt, "crashes") {
			crash(rt, crashed, events)
		}
		r = crashing(rt, crashed)
		reportIn(rt, r, events[Reported(crashed):])
		closeReporter(rt, r)

		got, want := contents(rt, crashed), contents(rt, whole)
		for name := range want {
			if got[name] != want[name] {
				rt.Fatalf("%s is\n%s\nwant\n%s", name, got[name], want[name])
			}
		}
		if len(got) != len(want) {
			rt.Fatalf("there are %d files, want %d", len(got), len(want))
		}
	})
}

// crashing is a reporter that keeps few files open, and notes its position sometimes.
func crashing(t *rapid.T, dir string) *Reporter {
	now := began
	r := New(Options{Dir: dir, Formats: []Format{JSONL, CSV}, MaxOpen: 1, Now: func() time.Time {
		now = now.Add(5 * time.Second)
		return now
	}})
	r.sync = func(string) error { return nil }
	return r
}

// crash reports some of the events after the noted position, and then dies. What was noted before is
// safe, the rest is torn.
func crash(t *rapid.T, dir string, events []view.Event) {
	from := int(Reported(dir))
	r := crashing(t, dir)
	reportIn(t, r, events[from:rapid.IntRange(from, len(events)).Draw(t, "crash")])
	if err := r.open.closeAll(); err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "lose the position") {
		_ = os.Remove(filepath.Join(dir, positionFile))
	}
	if Reported(dir) == 0 {
		tear(t, dir)
	}
}

// B-087: rows that cannot be written, for lack of room or of a permission, are kept and written later.
// This package warns the user of a missing permission; the host warns of a full disk.
func TestWhatCannotBeWrittenWaits(t *testing.T) {
	for cause, told := range map[error]int{syscall.ENOSPC: 0, syscall.EDQUOT: 0, syscall.EACCES: 1, syscall.EROFS: 1} {
		t.Run(cause.Error(), func(t *testing.T) {
			s := &story{dir: newDir(t, 2)}
			for i := range 6 {
				s.result(core.TrialNo(i%2), 1, uint64(i/2+1), acc(float64(i)))
			}
			r, warned := newReporter(s.dir), 0
			r.warn = func(string) { warned++ }
			stuck := false
			r.open.writeAt = func(f *os.File, b []byte, at int64) (int, error) {
				if stuck {
					n, _ := f.WriteAt(b[:len(b)/2], at)
					return n, &os.PathError{Op: "write", Path: f.Name(), Err: cause}
				}
				return f.WriteAt(b, at)
			}
			for i := range s.events {
				stuck = i > 0 && i < 4
				if err := r.Report(s.events[i : i+1]); err != nil {
					t.Fatal(err)
				}
			}
			write(t, r, nil)
			want(t, marks(t, s.dir, JSONL), "1/1 2/1 3/1")
			want(t, marks(t, s.dir, CSV), "1/1 2/1 3/1")
			if n := Reported(s.dir); n != 6 || warned != told {
				t.Errorf("%d is noted, and the user was told %d times", n, warned)
			}
		})
	}
}

func TestADamagedPositionIsNone(t *testing.T) {
	for _, text := range []string{"", "12", "x\n", "-1\n", "12\n13\n", "12 \n", "12 1234abcd\n"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, positionFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n := ReadNoted(dir); n.Event != 0 || n.Damaged == nil {
			t.Errorf("%q is %+v", text, n)
		}
	}
	dir := t.TempDir()
	if n := ReadNoted(dir); n != (Noted{}) {
		t.Errorf("no file is %+v", n)
	}
	if err := os.Mkdir(filepath.Join(dir, positionFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if n := ReadNoted(dir); n.Event != 0 || n.Damaged == nil {
		t.Errorf("a folder is %+v", n)
	}
}

// The number has a checksum; one without it, which earlier versions wrote, is read, too.
func TestSealedPosition(t *testing.T) {
	dir := t.TempDir()
	if err := setReported(dir, 549); err != nil {
		t.Fatal(err)
	}
	if n := ReadNoted(dir); n != (Noted{Event: 549, Sealed: true}) {
		t.Errorf("%+v", n)
	}
	text, err := os.ReadFile(filepath.Join(dir, positionFile))
	changed := strings.Replace(string(text), "549", "999", 1)
	for text, want := range map[string]uint64{changed: 0, "12\n": 12} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, positionFile), []byte(text), 0o600))
		if n := ReadNoted(dir); n.Event != want || n.Sealed || (n.Damaged == nil) != (want > 0) {
			t.Errorf("%q is %+v", text, n)
		}
	}
	if err != nil {
		t.Error(err)
	}
}
