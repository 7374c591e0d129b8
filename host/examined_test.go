package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/replay"
	"github.com/tunehost/tunehost/host/report/files"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/validate/examine"
	"github.com/tunehost/tunehost/host/view"
)

// wellExamined: nothing is wrong with the experiment.
func wellExamined(t *testing.T, dir string, plugins *bundled.Registry) {
	t.Helper()
	if bad := badlyExamined(t, dir, plugins); bad != "" {
		t.Error(bad)
	}
}

// badlyExamined returns what is wrong with the experiment.
func badlyExamined(t *testing.T, dir string, plugins *bundled.Registry) (bad string) {
	t.Helper()
	findings, err := examine.Directory(dir, plugins)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Bad {
			bad += f.What + ": " + f.Text + "\n"
		}
	}
	return bad
}

// B-080, B-086: each entry of a record is whole by itself; what tells that the last ones are gone are the results of
// their trials. No host goes on from there: it would train again, and replace, what is gone.
func TestEndOfRecordGone(t *testing.T) {
	t.Parallel()
	o, _ := saves(t, "", "")
	ended := finish(t, o)
	wellExamined(t, ended.Dir, o.Plugins)
	journal, kept := filepath.Join(ended.Dir, "journal"), filepath.Join(t.TempDir(), "journal")
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(os.CopyFS(kept, os.DirFS(journal)))
	o.Sets = append(o.Sets, "trials=3")
	finish(t, o)
	do(errors.Join(os.RemoveAll(journal), os.CopyFS(journal, os.DirFS(kept))))
	everywhere := func(want string) {
		t.Helper()
		_, resumed := Resume(t.Context(), ended.Dir, Options{Plugins: o.Plugins})
		_, again := run(t.Context(), o)
		for who, text := range map[string]string{"doctor": badlyExamined(t, ended.Dir, o.Plugins),
			"resume": fmt.Sprint(resumed), "run": fmt.Sprint(again)} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s", who, text)
			}
		}
		if now, was := listed(t, journal), listed(t, kept); !slices.Equal(now, was) {
			t.Errorf("the record has %v, and had %v", now, was)
		}
	}
	everywhere("but the record ends after one trial: its last entries are gone, as in a copy that was made while the " +
		"experiment ran; put the files of " + journal + " back (for a copy: copy again while no host runs), or, ")
	if r, err := replay.Run(t.Context(), ended.Dir, replay.Options{Plugins: o.Plugins}); err != nil || r.Lost == nil {
		t.Errorf("replay: %v, %v", r.Lost, err)
	}
	lost := examine.Lost(ended.Dir)
	if e, err := view.Open(ended.Dir); err != nil || lost(e) == nil {
		t.Errorf("status and the like: %v", err)
	} else {
		do(e.Close())
	}
	for _, no := range []string{"00001", "00002"} {
		found, err := filepath.Glob(filepath.Join(ended.Dir, "trials", no+"_*"))
		do(err)
		do(os.RemoveAll(found[0]))
	}
	everywhere("but the record ends with event ")
	do(os.Remove(filepath.Join(ended.Dir, ".reported")))
	wellExamined(t, ended.Dir, o.Plugins)
	finish(t, o)
}

// forgetResults leaves of an experiment's results what a host had written that died when there were so many trials:
// nothing is written before it is recorded.
func forgetResults(t *testing.T, dir string, trials int) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "trials"))
	err = errors.Join(err, os.Remove(files.Position(dir)))
	for _, e := range entries {
		digits, _, _ := strings.Cut(e.Name(), "_")
		if no, failed := strconv.Atoi(digits); failed != nil || no >= trials {
			err = errors.Join(err, failed, os.RemoveAll(filepath.Join(dir, "trials", e.Name())))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func listed(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// B-080: a loss of power takes the last moments of the record, and may leave the directory of a trial that had begun in
// them: the experiment goes on. So it does beside a user's folders.
func TestDirectoriesOfNoTrial(t *testing.T) {
	t.Parallel()
	o, _ := saves(t, "", "seed: 3\n")
	dir := finish(t, o).Dir
	for _, name := range []string{"000077", "00077_mine", "00001_" + naming.ID(3, 1) + "_x=1"} {
		if err := os.MkdirAll(filepath.Join(dir, "trials", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"00077_mine", "00001_" + naming.ID(3, 1) + "_x=1"} { // a program's own, too
		mine := filepath.Join(dir, "trials", name, "result.jsonl")
		if err := os.WriteFile(mine, []byte("{\"iteration\": 1, \"loss\": 2}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wellExamined(t, dir, o.Plugins)
	o.Sets = append(o.Sets, "trials=3")
	finish(t, o)
}

// withoutSums takes the checksums out of a run.json.
func withoutSums(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	fields := map[string]any{}
	if err = errors.Join(err, json.Unmarshal(text, &fields)); err != nil {
		t.Fatal(err)
	}
	delete(fields, "sum")
	delete(fields, "experiment_sha256")
	text, err = json.MarshalIndent(fields, "", "  ")
	if err = errors.Join(err, os.WriteFile(path, text, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// What settings never change is the same in the files of an experiment as in its record: readers and the next host say
// that a file was changed, and nothing is mixed. The files are those of an earlier version, which wrote no sums.
func TestFilesAgreeWithRecord(t *testing.T) {
	t.Parallel()
	o, _ := saves(t, "", "seed: 3\n")
	dir := finish(t, o).Dir
	withoutSums(t, filepath.Join(dir, "run.json"))
	for name, change := range map[string][2]string{
		"experiment.yaml": {"mode: max", "mode: min"}, "run.json": {`"seed": 3`, `"seed": 7`},
	} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), change[0], change[1], 1)
		if changed == string(text) {
			t.Fatalf("%s has no %s: %s", name, change[0], text)
		}
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		_, read := view.Open(dir)
		_, resumed := Resume(t.Context(), dir, Options{Plugins: o.Plugins})
		for what, err := range map[string]error{"reader": read, "host": resumed} {
			if err == nil || !strings.Contains(err.Error(), "in the record; put it back from a copy") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		wellExamined(t, dir, o.Plugins)
	}
}
