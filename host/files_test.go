package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// B-090: a directory for each trial, named by number, id and what varies.
func TestTrialDirectories(t *testing.T) {
	long := strings.Repeat("long", 100)
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}, '.. b:*c': {choice: ['../../etc', '"+long+
		"']}, iterations: 1}\nsearcher: random\ntrials: 20\n"))
	ended := finish(t, o)
	dirs, err := os.ReadDir(filepath.Join(ended.Dir, "trials"))
	if err != nil || len(dirs) != 20 {
		t.Fatalf("%d directories, %v", len(dirs), err)
	}
	seen := map[string]bool{}
	for _, d := range dirs {
		id := strings.Split(d.Name(), "_")[1]
		if len(d.Name()) > 200 || strings.ContainsAny(d.Name(), "/\\ :*?\"<>|") || seen[id] ||
			!strings.Contains(d.Name(), "x=0.") {
			t.Errorf("directory %q", d.Name())
		}
		seen[id] = true
	}
}

// B-090: a name of the user's cannot leave the experiment's directory, and two
// trials do not share one.
func TestTrialNameTemplate(t *testing.T) {
	o, _ := quick(t, search("space: {c: {choice: ['../../../x']}, x: {uniform: [0, 1]}}\ntrial_name: "+
		"'../{c}/run'\ntrials: 3\n"))
	ended := finish(t, o)
	dirs, err := os.ReadDir(filepath.Join(ended.Dir, "trials"))
	if err != nil || len(dirs) != 3 {
		t.Fatalf("%d directories, %v", len(dirs), err)
	}
	for _, d := range dirs {
		if !strings.HasSuffix(d.Name(), "run") {
			t.Errorf("directory %q", d.Name())
		}
	}
}

const secret = "canary-5d41402abc4b2a76"

// B-091, B-092: what is in a trial's directory and an experiment's, for the
// owner alone, and nothing of the environment in any of it.
func TestFilesAndModes(t *testing.T) {
	t.Setenv("SECRET_TOKEN", secret)
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable:
  command: [sh, -c, 'echo said >&2; echo "{{\"score\": {x}}}"; test {x} != 2']
space: {x: {grid: [1, 2]}}
`)
	ended := finish(t, o)
	for _, name := range []string{"params.json", "result.jsonl", "progress.csv", "stdout", "stderr"} {
		if trialFile(t, ended.Dir, "00000", name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
	contains(t, trialFile(t, ended.Dir, "00001", "error.txt"), "exit status 1", "said")
	if found, _ := filepath.Glob(filepath.Join(ended.Dir, "trials", "00000*", "error.txt")); len(found) > 0 {
		t.Error("a trial that ended well has an error.txt")
	}
	private(t, ended.Dir)
}

// B-092: plugins of their own processes, checkpoints among it.
func TestPluginsKeepItPrivate(t *testing.T) {
	t.Setenv("SECRET_TOKEN", secret)
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 4, fail_at: 3, fail_times: 1}}
checkpoint: {every: 2, at_end: true}
failures: {retries: 1}
`)
	ended := finish(t, o)
	if found, _ := filepath.Glob(filepath.Join(ended.Dir, "trials", "*", "checkpoints", "*")); len(found) == 0 {
		t.Error("no checkpoints")
	}
	private(t, ended.Dir)
}

// private checks that only the owner can read a tree and that the secret is not
// in it.
func private(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 && info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s has the mode %v", path, mode)
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
