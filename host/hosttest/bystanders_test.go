package hosttest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/testplace"
)

// B-155: whatever the names of others' files are, and wherever they lie, they are as they
// were after plugins were started, trials have saved checkpoints, a host was killed and
// another one has gone on to the end.
func TestBystanders(t *testing.T) {
	x := write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 30, sleep: 0.02}}
space: {}
trials: 3
checkpoint: {every: 2, keep: 2, pauses: memory}
`, nil)
	tmp := testplace.Short(t)
	cache := filepath.Join(tmp, "cache")
	env := []string{"TMPDIR=" + tmp, "XDG_RUNTIME_DIR=" + filepath.Join(tmp, "run"), "XDG_CACHE_HOME=" + cache}
	b := &testplace.Bystanders{Old: time.Now().Add(-100 * 24 * time.Hour)} // at which sweeps used to take them
	b.Put(t, tmp, "th-thesis/chapter1/text.tex", "th-1", "tunehost-1/socket", "tunehost-0.txt", "tunehost-ch-1/0",
		"tunehost-check-1/model",
		"conformance-1/model", "plugin-dir1/x", ".new-1/model", "run/th-2/x", "run/tunehost/notes.txt",
		"run/tunehost/habcdef/x",
		"run/tunehost/h1/1/claim.json", "tunehost-"+uid()+"/h000000/1/text")
	b.Put(t, cache, "tunehost/wasm/wazero-notes/thesis.tex", "tunehost/wasm/wazero-v1/"+strings.Repeat("0f", 32))
	for _, dir := range []string{tmp + "/run", tmp + "/run/tunehost", tmp + "/run/tunehost/habcdef",
		tmp + "/tunehost-" + uid(), cache + "/tunehost/wasm"} {
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b.Put(t, x.Storage, "notes.txt", "other/trials/00000/checkpoints/000001/model", "test.old/journal/1")
	b.Put(t, x.dir, "notes.txt", "mine/a", "experiment.yaml.bak", "crash-mine.txt", "run.json.tmp",
		"experiment.yaml.tmp",
		"tunehost.lock.tmp", "control.tmp", ".reported.tmp", "learned.jsonl.tmp", ".run.json.mine.tunehost-tmp")
	for i := range 2 {
		p := x.start(t, env...)
		x.awaitResults(t, p, 2)
		x.await(t, p, func() bool { return len(saved(x)) > 0 })
		if i == 0 {
			for _, dir := range x.trials(t) {
				b.Put(t, dir, "notes.txt", "model.tmp", "result.jsonl.bak", "result.jsonl.tmp", "params.json.tmp",
					"progress.csv.tmp",
					"error.txt.tmp", "checkpoints/mine.tmp/model", "checkpoints/notes.old", "checkpoints/12/model",
					"checkpoints/000900/model", "checkpoints/own/last/model", "checkpoints/restored/notes.txt",
					"export/mine/model")
			}
			b.Put(t, x.dir, "checkpoints/blobs/notes.txt", "checkpoints/blobs/ab/notes", "snapshots/mine-1",
				"journal/notes.txt", "journal/1.tmp",
				"journal/00000000000000000001.tj.tmp", "journal/00000000000000000900.tj.tmp", "trials/mine/a")
			p.kill(t)
			if len(ours(t, tmp)) == 0 {
				t.Error("the killed host has left nothing: it has its folders elsewhere")
			}
			continue
		}
		p.ends(t, 0)
	}
	b.Check(t)
	if left := ours(t, tmp); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

func uid() string { return strconv.Itoa(os.Getuid()) }

// saved lists whole checkpoints.
func saved(x *experiment) []string {
	found, _ := filepath.Glob(filepath.Join(x.dir, "trials", "*", "checkpoints", "*", "MANIFEST.json"))
	return found
}

// ours are the folders that hosts have left among the temporary ones.
func ours(t *testing.T, tmp string) (left []string) {
	t.Helper()
	err := filepath.WalkDir(tmp, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".tunehost-home" {
			left = append(left, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return left
}
