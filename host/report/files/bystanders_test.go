package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// B-155: content that a program wrote into files with our names is kept.
func TestProgramsOwnFiles(t *testing.T) {
	for name, text := range map[string]string{
		"result.jsonl":  `{"iteration": 1, "loss": 3}`,
		"result.jsonl ": "{\"iteration\":1,\"loss\":3}\n{\"iteration\":2,\"loss\":2}\n",
		"progress.csv":  "epoch,loss",
		"progress.csv ": "iteration,loss\n1,2\n",
	} {
		dir, file := t.TempDir(), strings.TrimSpace(name)
		path := filepath.Join(dir, file)
		format := JSONL
		if file == CSV.File() {
			format = CSV
		}
		for _, kept := range []string{path + ".old", path + ".old2"} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			table, err := openTable(dir, format, (*os.File).WriteAt, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := table.close(); err != nil {
				t.Error(err)
			}
			if got, err := os.ReadFile(kept); err != nil || string(got) != text {
				t.Errorf("%s: %q, %v", kept, got, err)
			}
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("%s is there: %v", path, err)
			}
		}
	}
}

// B-127, B-155: lines that somebody has added to our files, also copies of our rows, are moved to a file beside them
// when the trial goes on, and no row is there twice. One warning says so.
func TestForeignLines(t *testing.T) {
	for what, add := range map[string]func(text string) string{
		"a line at the end":   func(text string) string { return text + "{\"note\":\"mine\"}\n" },
		"an empty line":       func(text string) string { return text + "\n\nmine\n" },
		"all rows once more":  func(text string) string { return text + text },
		"a line in between":   func(text string) string { return strings.Replace(text, "\n", "\nmine\n", 2) },
		"half a row, a break": func(text string) string { return text + text[:len(text)/2] + "\n" },
	} {
		dir := newDir(t, 2)
		s := &story{dir: dir}
		for no := range core.TrialNo(2) {
			s.start(no, 1, 0)
			s.result(no, 1, 1, acc(1))
			s.result(no, 1, 2, acc(2))
		}
		write(t, newReporter(dir), s.events)
		for no := range core.TrialNo(2) {
			path := filepath.Join(trialDir(dir, no), JSONL.File())
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, []byte(add(string(text))), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		s.result(0, 1, 3, acc(3))
		s.result(1, 1, 3, acc(3))
		var warned []string
		r := newReporter(dir)
		r.open.warn = func(text string) { warned = append(warned, text) }
		write(t, r, s.events) // the host repeats what may be missing
		want(t, what+": "+marks(t, dir, JSONL), what+": 1/1 2/1 3/1")
		text := read(t, dir, 0, JSONL.File())
		if strings.Count(text, "\n") != 3 || len(warned) != 1 || !strings.Contains(warned[0], "result.jsonl.old now") {
			t.Errorf("%s: %q, %q", what, text, warned)
		}
		if old := read(t, dir, 1, JSONL.File()+".old"); old == "" {
			t.Errorf("%s: it is not kept", what)
		}
	}
}

// The same holds for tables.
func TestForeignRows(t *testing.T) {
	s := &story{dir: newDir(t, 1)}
	s.result(0, 1, 1, acc(1))
	s.result(0, 1, 2, acc(2))
	write(t, newReporter(s.dir), s.events)
	text := read(t, s.dir, 0, CSV.File())
	if err := os.WriteFile(filepath.Join(trialDir(s.dir, 0), CSV.File()), []byte(text+text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.result(0, 1, 3, acc(3))
	write(t, newReporter(s.dir), s.events)
	want(t, marks(t, s.dir, CSV), "1/1 2/1 3/1")
	want(t, read(t, s.dir, 0, CSV.File()+".old"), text)
}

// A file of zeros, which takes no room on the disk, is not read to its end.
func TestProgramsHugeFiles(t *testing.T) {
	for _, format := range []Format{JSONL, CSV} {
		dir := t.TempDir()
		path := filepath.Join(dir, format.File())
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<42)); err != nil {
			t.Fatal(err)
		}
		table, err := openTable(dir, format, (*os.File).WriteAt, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.close(); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path + ".old"); err != nil || info.Size() != 1<<42 {
			t.Errorf("%s.old: %v", path, err)
		}
	}
	e := &view.Event{Trial: view.Subject{Dir: t.TempDir()}}
	path := filepath.Join(e.Trial.Dir, errorFile)
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<42)); err != nil {
		t.Fatal(err)
	}
	if err := addFailure(e, "why"); !taken(err) {
		t.Errorf("%s: %v", errorFile, err)
	}
}

// What a program writes into its directory says nothing of the record, unless it is a row of the trial itself.
func TestLastEventOfATrial(t *testing.T) {
	dir := newDir(t, 2)
	r := New(Options{Dir: dir, Formats: []Format{JSONL, CSV}, Now: func() time.Time { return began }})
	r.sync = func(string) error { return nil }
	s := &story{dir: dir}
	s.start(0, 1, 0)
	s.result(0, 1, 1, acc(1))
	if err := errors.Join(r.Report(s.events), r.Close()); err != nil {
		t.Fatal(err)
	}
	last := s.events[len(s.events)-1].Number
	for _, format := range []Format{JSONL, CSV} {
		row, err := os.ReadFile(filepath.Join(trialDir(dir, 0), format.File()))
		if err != nil {
			t.Fatal(err)
		}
		for content, want := range map[string]uint64{string(row): last, "": 0, "mine": 0, "{\"loss\":1}\n": 0,
			"epoch,loss\n1,2\n": 0, "{\"iteration\":1,\"attempt\":1,\"event_number\":9,\"done\":true}\n": 0} {
			at := t.TempDir()
			if err := os.WriteFile(filepath.Join(at, format.File()), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := LastEvent(at, "id0"); got != want {
				t.Errorf("%s with %q: %d, want %d", format.File(), content, got, want)
			}
			if got := LastEvent(at, "id1"); got != 0 {
				t.Errorf("%s of another trial: %d", format.File(), got)
			}
		}
	}
}

// B-155: error.txt keeps what a program has written there; only an incomplete paragraph of ours is
// removed.
func TestProgramsOwnErrors(t *testing.T) {
	e := &view.Event{Number: 7, Time: time.Unix(0, 0), Trial: view.Subject{Dir: t.TempDir(), Attempt: 2}}
	const ours = "attempt 2 (event 7) failed at 1970-01-01T00:00:00Z\n  why\n\n"
	for old, want := range map[string]string{
		"":                        ours,
		"mine\nhalf a line":       "mine\nhalf a line\n\n" + ours,
		"attempt at something":    "attempt at something\n\n" + ours,
		"attempt 2 (event 7) fai": ours,
		"attempt 2 (event 7) failed at 1970\n  wh": ours,
		"attempt 1 (event 3) failed at x\n  y\n\n": "attempt 1 (event 3) failed at x\n  y\n\n" + ours,
		"attempt 1 (event 3) failed at x\n  y\n\nmine": "attempt 1 (event 3) failed at x\n  y\n\nmine\n\n" +
			ours,
		"attempt 1 (event 3) failed at x\n  y\n\nattempt 2 (event": "attempt 1 (event 3) failed at x\n  y\n\n" + ours,
		ours: ours,
	} {
		path := filepath.Join(e.Trial.Dir, errorFile)
		if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := addFailure(e, "why"); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%q became %q, want %q: %v", old, got, want, err)
		}
	}
}

// What a trial puts in the place of its file, or of its directory, is not followed and costs its own files: the other
// trials keep theirs, whether its files are open or not (B-091).
func TestAPlaceTakenByOneTrial(t *testing.T) {
	for what, put := range map[string]func(trial, file, target string) error{
		"a link": func(_, file, target string) error {
			_ = os.Remove(file)
			return os.Symlink(target, file)
		},
		"a file of zeros without end": func(_, file, _ string) error { return os.Truncate(file, 1<<42) },
		"a file for the directory": func(trial, _, _ string) error {
			return errors.Join(os.RemoveAll(trial), os.WriteFile(trial, []byte("mine"), 0o600))
		},
		"a link for the directory": func(trial, _, target string) error {
			return errors.Join(os.RemoveAll(trial), os.Symlink(filepath.Dir(target), trial))
		},
	} {
		for _, open := range []int{1, 9} {
			t.Run(fmt.Sprintf("%s, %d open", what, open), func(t *testing.T) { placeTaken(t, open, put) })
		}
	}
}

func placeTaken(t *testing.T, open int, put func(trial, file, target string) error) {
	dir := newDir(t, 2)
	var warned []string
	r := New(Options{Dir: dir, Formats: []Format{JSONL, CSV}, Now: func() time.Time { return began }, MaxOpen: open,
		Warn: func(text string) { warned = append(warned, text) }})
	r.sync = func(string) error { return nil }
	target := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(target, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &story{dir: dir}
	for round := range uint64(3) {
		before := len(s.events)
		for trial := range core.TrialNo(2) {
			if round == 0 {
				s.start(trial, 1, 0)
			}
			s.result(trial, 1, round+1, acc(1))
		}
		if err := r.Report(s.events[before:]); err != nil {
			t.Fatal(err)
		}
		if err := put(trialDir(dir, 1), filepath.Join(trialDir(dir, 1), JSONL.File()), target); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	text, _ := os.ReadFile(filepath.Join(trialDir(dir, 0), JSONL.File()))
	if kept, _ := os.ReadFile(target); string(kept) != "mine" || strings.Count(string(text), "\n") != 3 {
		t.Errorf("the target has %q, the other trial %q", kept, text)
	}
	if open == 1 && (len(warned) != 1 || !strings.Contains(warned[0], "the files of trial 1 get no more results")) {
		t.Errorf("%q", warned)
	}
}

// B-091: the files of a trial that a program or a user has removed or replaced while it ran are lost, which one warning
// says. They are open: nothing fails.
func TestFilesThatAreLost(t *testing.T) {
	for how, take := range map[string]func(trial string) error{
		"the directory is removed": os.RemoveAll,
		"the directory is a file": func(trial string) error {
			return errors.Join(os.RemoveAll(trial), os.WriteFile(trial, nil, 0o600))
		},
		"the directory is a link": func(trial string) error {
			return errors.Join(os.Rename(trial, trial+".away"), os.Symlink(trial+".away", trial))
		},
		"the directory is another": func(trial string) error {
			return errors.Join(os.Rename(trial, trial+".away"), os.Mkdir(trial, 0o700))
		},
		"the file is another": func(trial string) error {
			tmp := filepath.Join(trial, "tmp")
			return errors.Join(os.WriteFile(tmp, nil, 0o600), os.Rename(tmp, filepath.Join(trial, JSONL.File())))
		},
	} {
		for _, before := range []int{0, 1} { // results
			dir := newDir(t, 2)
			var warned []string
			r := New(Options{Dir: dir, Formats: []Format{JSONL, CSV}, Now: func() time.Time { return began },
				Warn: func(text string) { warned = append(warned, text) }})
			r.sync = func(string) error { return nil }
			s := &story{dir: dir}
			for no := range core.TrialNo(2) {
				s.start(no, 1, 0)
				for i := range before {
					s.result(no, 1, uint64(i+1), acc(1))
				}
			}
			err, told := r.Report(s.events), len(s.events)
			err = errors.Join(err, take(trialDir(dir, 1)))
			for no := range core.TrialNo(2) {
				s.result(no, 1, uint64(before+1), acc(2))
				s.tell(core.SawCompleted, no, 1)
			}
			if err := errors.Join(err, r.Report(s.events[told:]), r.Close()); err != nil {
				t.Errorf("%s: %v", how, err)
			}
			if before == 0 && how == "the directory is another" || before == 0 && how == "the file is another" {
				continue // they get all results, or are taken up
			}
			if len(warned) != 1 || !strings.Contains(warned[0], "files of trial 1 ") {
				t.Errorf("%s, after %d results: %q", how, before, warned)
			}
		}
	}
}

// A trial that failed before it ever started has no folder: nothing is written, and nothing is lost.
func TestFailedBeforeItsFirstStart(t *testing.T) {
	dir := newDir(t, 0)
	var warned []string
	r := New(Options{Dir: dir, Formats: []Format{JSONL}, Now: func() time.Time { return began },
		Warn: func(text string) { warned = append(warned, text) }})
	s := &story{dir: dir}
	s.tell(core.SawFailed, 0, 0).Reason = "no node has that much"
	if err := r.Report(s.events); err != nil || len(warned) > 0 {
		t.Errorf("%v, warned %q", err, warned)
	}
}
