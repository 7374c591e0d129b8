package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
)

// as gives an experiment's file another path.
func as(t *testing.T, o Options, path string, move bool) Options {
	t.Helper()
	to := filepath.Join(filepath.Dir(o.File), path)
	text, err := os.ReadFile(o.File)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err == nil && move {
		err = os.Remove(o.File)
	}
	if err != nil {
		t.Fatal(err)
	}
	o.File = to
	return o
}

// recordedFile is the file that an experiment has begun with, or was moved to.
func recordedFile(t *testing.T, path string) string {
	t.Helper()
	dir, err := storage.At(path)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := runfile.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r.File
}

// Files with letters of other scripts have experiments of their names.
func TestNamesOfAnyScript(t *testing.T) {
	o, _ := quick(t, twoTrials)
	for _, name := range []string{"日本", "中国", "ünï cödé", "önö cüdü"} {
		if got := filepath.Base(finish(t, as(t, o, name+".yaml", false)).Dir); got != name {
			t.Errorf("the experiment of %s.yaml is in %s", name, got)
		}
	}
}

// A file does not show the results of another file that has the same name by default.
func TestAnotherFilesExperiment(t *testing.T) {
	for _, names := range [][2]string{{"🎉.yaml", "🚀.yaml"}, {"a/q.yaml", "b/q.yaml"}, {"q.yaml", "q.yml"}} {
		o, seen := quick(t, twoTrials)
		o.Verbose = 1
		first, second := as(t, o, names[0], false), as(t, o, names[1], false)
		ended := finish(t, first)
		name := filepath.Base(ended.Dir)
		contains(t, refused(t, second), ended.Dir+": this experiment belongs to "+first.File, "--name")
		finish(t, first)
		second.Name = name
		finish(t, second)
		contains(t, seen.String(), "warning: --name "+name+": "+ended.Dir+" belongs to "+first.File)
		if got := recordedFile(t, ended.Dir); got != first.File {
			t.Errorf("it has become that of %s", got)
		}
	}
}

// A file that was moved continues, and its programs are found where it is now; one that was
// renamed does when its experiment is named.
func TestMovedFileGoesOn(t *testing.T) {
	o, seen := quick(t, twoTrials)
	o.Verbose = 1
	ended := finish(t, o)
	moved := as(t, o, "elsewhere/"+filepath.Base(o.File), true)
	finish(t, moved)
	if got := recordedFile(t, ended.Dir); got != moved.File {
		t.Errorf("programs are looked for beside %s", got)
	}
	renamed := as(t, moved, "renamed.yaml", true)
	renamed.Name = filepath.Base(ended.Dir)
	finish(t, renamed)
	finish(t, renamed)
	if n := strings.Count(seen.String(), "was begun with "+moved.File+", which is gone"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, seen)
	}
}

// A copy of a project continues with the copy of its experiment.
func TestCopiedProjectGoesOn(t *testing.T) {
	o, _ := quick(t, twoTrials)
	o = as(t, o, "old/x.yaml", false)
	old := filepath.Dir(o.File)
	o.Storage = filepath.Join(old, "results")
	finish(t, o)
	project := filepath.Join(filepath.Dir(old), "new")
	if err := os.CopyFS(project, os.DirFS(old)); err != nil {
		t.Fatal(err)
	}
	o.File, o.Storage = filepath.Join(project, "x.yaml"), filepath.Join(project, "results")
	ended := finish(t, o)
	if got := recordedFile(t, ended.Dir); got != o.File {
		t.Errorf("programs are looked for beside %s", got)
	}
}

// An experiment whose name an earlier version made continues under it, with its own file alone.
func TestFormerNameGoesOn(t *testing.T) {
	o, _ := quick(t, twoTrials)
	own, other := as(t, o, "日本.yaml", false), as(t, o, "中国.yaml", false)
	named := own
	named.Name = "__"
	dir := finish(t, named).Dir
	if got := finish(t, own).Dir; got != dir {
		t.Errorf("日本.yaml begins again in %s", got)
	}
	if got := finish(t, other).Dir; filepath.Base(got) != "中国" {
		t.Errorf("中国.yaml has its experiment in %s", got)
	}
}

// A flag is named as the user wrote it, and its value is a text, whatever it looks like.
func TestFlagsInMessages(t *testing.T) {
	o, _ := quick(t, twoTrials)
	o.Name = "a/b"
	contains(t, refused(t, o), `--name a/b: found the text "a/b"`)
	for _, name := range []string{"null", "true", "1e3"} {
		o.Name = name
		if got := filepath.Base(finish(t, o).Dir); got != name {
			t.Errorf("--name %s is the experiment %s", name, got)
		}
	}
}

// With storage elsewhere, another file of the same machine is refused, and a file on another
// machine continues, whatever has the path there that the file had.
func TestOwnershipElsewhere(t *testing.T) {
	url := "file://" + t.TempDir()
	machine(t)
	o, _ := elsewhere(t, url, saving)
	first, second := as(t, o, "a/q.yaml", false), as(t, o, "b/q.yaml", false)
	finish(t, first)
	contains(t, refused(t, second), "this experiment belongs to "+first.File)
	machine(t)
	ended := finish(t, second)
	if got := recordedFile(t, ended.Dir); got != second.File {
		t.Errorf("programs are looked for beside %s", got)
	}
}
