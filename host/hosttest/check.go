package hosttest

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/replay"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/view"
)

// CheckReplay checks that the record is whole, that its last host has closed it
// or left it torn at worst, and that machine, searcher and scheduler do again
// what they did.
func CheckReplay(t testing.TB, dir string, plugins *bundled.Registry) {
	t.Helper()
	d, err := storage.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := history.Verify(d.Journal(), journal.RunID{}); err != nil {
		t.Errorf("the record: %v", err)
	}
	if err := replay.Check(t.Context(), dir, plugins); err != nil {
		t.Errorf("replay: %v", err)
	}
}

// CheckFinished checks that as many trials as planned have ended, each of them
// with every iteration from 1 on exactly once, in order, in the record and in
// result.jsonl alike. (Under population based training iterations may be missing,
// where a trial took over another's checkpoint.)
func CheckFinished(t testing.TB, dir string, trials int) {
	t.Helper()
	e, err := view.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	m := e.Now().Machine
	if outcome, why := m.Outcome(); outcome != core.Finished || m.Trials() != trials {
		t.Errorf("%v (%s) with %d trials, of %d", outcome, why, m.Trials(), trials)
	}
	for no := range core.TrialNo(m.Trials()) {
		if !m.State(no).Final() {
			t.Errorf("trial %d is %v", no, m.State(no))
		}
		checkResults(t, e, no)
	}
}

// inOtherStretches says whether two attempts of a trial are in different stretches.
func inOtherStretches(e *view.Recorded, no core.TrialNo, a, b uint32) bool {
	return slices.ContainsFunc(e.Now().Machine.Stretches(no), func(s core.Stretch) bool { return s.Has(a) != s.Has(b) })
}

func checkResults(t testing.TB, e *view.Recorded, no core.TrialNo) {
	t.Helper()
	recorded, err := e.Results(no)
	if err != nil {
		t.Fatal(err)
	}
	written := Lines(t, filepath.Join(e.Now().TrialDir(no), "result.jsonl"))
	if len(recorded) != len(written) {
		t.Errorf("trial %d: %d results in the record, %d in result.jsonl", no, len(recorded), len(written))
		return
	}
	checkTable(t, e, no, recorded)
	var last uint64
	attempt := uint32(1)
	for i, r := range recorded {
		// A trial that continues from another's checkpoint has that one's iteration.
		if r.Iteration != last+1 && !inOtherStretches(e, no, attempt, r.Attempt) {
			t.Errorf("trial %d: iteration %d follows %d", no, r.Iteration, last)
		}
		last, attempt = r.Iteration, r.Attempt
		w := written[i]
		if number(w["iteration"]) != float64(r.Iteration) || number(w["attempt"]) != float64(r.Attempt) {
			t.Errorf("trial %d, result %d: recorded iteration %d of attempt %d, written %v of %v", no, i+1, r.Iteration,
				r.Attempt, w["iteration"], w["attempt"])
		}
		for _, x := range r.Metrics {
			if got := number(w[x.Name]); got != x.Value && (got == got || x.Value == x.Value) {
				t.Errorf("trial %d, result %d: %s is %v in the record and %v in result.jsonl", no, i+1, x.Name, x.Value,
					w[x.Name])
			}
		}
	}
}

// checkTable checks that progress.csv, where there is one, has the same results, once
// and in order.
func checkTable(t testing.TB, e *view.Recorded, no core.TrialNo, recorded []view.Result) {
	t.Helper()
	f, err := os.Open(filepath.Join(e.Now().TrialDir(no), "progress.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return // it is not among the reporters, or nothing was reported
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != len(recorded)+1 {
		t.Errorf("trial %d: %d results in the record, %d lines in progress.csv: %v", no, len(recorded), len(rows), err)
		return
	}
	column := slices.Index(rows[0], "iteration")
	for i, r := range recorded {
		if column < 0 || rows[i+1][column] != strconv.FormatUint(r.Iteration, 10) {
			t.Errorf("trial %d, result %d: iteration %d in the record, progress.csv has %q", no, i+1, r.Iteration,
				rows[i+1])
		}
	}
}

func number(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case string:
		f, err := strconv.ParseFloat(v, 64)
		if err == nil {
			return f
		}
	}
	return 0
}

// Lines reads a file of JSON objects, one a line; none where there is no file.
func Lines(t testing.TB, path string) (list []map[string]any) {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		line := map[string]any{}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			t.Errorf("%s: %q: %v", path, in.Text(), err)
		}
		list = append(list, line)
	}
	return list
}

// orphanTime is how long a killed host's reaper may take on a busy machine.
const orphanTime = 2 * time.Minute

// CheckNoOrphans checks that soon no process is left that has to do with the
// directory: by its environment, its arguments, its working directory or its
// open files. It is for hosts that ran in a process of their own.
func CheckNoOrphans(t testing.TB, dir string) {
	t.Helper()
	var left []string
	for end := time.Now().Add(orphanTime); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if left = Processes(dir); len(left) == 0 {
			return
		}
	}
	t.Errorf("still running: %s", strings.Join(left, "; "))
}

// Processes describes those that have to do with the directory, but not the one
// that asks.
func Processes(dir string) (list []string) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	own, _ := os.ReadFile("/proc/self/cmdline")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || !concerns(filepath.Join("/proc", e.Name()), dir) {
			continue
		}
		args, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if bytes.Equal(args, own) { // a fork that has not become another test's program yet: it holds what we do
			continue
		}
		if len(args) == 0 { // its memory is gone: it has ended but for its entry
			continue
		}
		list = append(list, e.Name()+" "+strings.ReplaceAll(string(args), "\x00", " "))
	}
	return list
}

func concerns(proc, dir string) bool {
	for _, name := range []string{"environ", "cmdline"} {
		if text, err := os.ReadFile(filepath.Join(proc, name)); err == nil && strings.Contains(string(text), dir) {
			return true
		}
	}
	links := []string{filepath.Join(proc, "cwd")}
	files, _ := filepath.Glob(filepath.Join(proc, "fd", "*"))
	for _, l := range append(links, files...) {
		if to, err := os.Readlink(l); err == nil && strings.HasPrefix(to, dir) {
			return true
		}
	}
	return false
}
