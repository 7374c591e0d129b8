package host

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/plugin/bundled"
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

// Each entry of a record is whole by itself; what tells that the last ones are gone are the directories of their
// trials.
func TestEndOfRecordGone(t *testing.T) {
	t.Parallel()
	o, _ := saves(t, "", "")
	ended := finish(t, o)
	wellExamined(t, ended.Dir, o.Plugins)
	journal, kept := filepath.Join(ended.Dir, "journal"), filepath.Join(t.TempDir(), "journal")
	if err := os.CopyFS(kept, os.DirFS(journal)); err != nil {
		t.Fatal(err)
	}
	o.Sets = append(o.Sets, "trials=3")
	finish(t, o)
	if err := errors.Join(os.RemoveAll(journal), os.CopyFS(journal, os.DirFS(kept))); err != nil {
		t.Fatal(err)
	}
	if bad := badlyExamined(t, ended.Dir, o.Plugins); !strings.Contains(bad, "but the record ends after 1 trials: its "+
		"last entries are gone") {
		t.Error(bad)
	}
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
