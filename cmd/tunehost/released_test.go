package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plugin/lockfile"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

var rewrite = flag.Bool("rewrite", false, "write what is missing in the newest folder of testdata/released: damaged "+
	"experiments, and what must be found")

const released = "testdata/released"

// versions are the folders of released experiments, oldest first.
func versions(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(released + "/v*")
	if err != nil || len(list) == 0 {
		t.Fatalf("no released experiments: %v", err)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return list
}

func newest(t *testing.T, version string) bool {
	list := versions(t)
	return version == list[len(list)-1]
}

// whole are the undamaged experiments of a version.
func whole(t *testing.T, version string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(version + "/*/run.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no experiments: %v", version, err)
	}
	for _, f := range files {
		list = append(list, filepath.Dir(f))
	}
	return list
}

// clone is a writable copy of an experiment. Git keeps no modes, so that clone sets those of a host.
func clone(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		mode := os.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		return errors.Join(err, os.Chmod(path, mode))
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// tunehost runs the program in this process, from its arguments to its exit status; its output names
// dir DIR.
func tunehost(dir, stdin string, args ...string) (exit int, said string) {
	var out bytes.Buffer
	exit = run(args, os.Environ(), strings.NewReader(stdin), &out, &out)
	return exit, strings.ReplaceAll(out.String(), dir, "DIR")
}

// held compares a text with a file of a version's folder. Existing files are never rewritten.
func held(t *testing.T, version, name, got string) {
	t.Helper()
	path := filepath.Join(version, name)
	if _, err := os.Stat(path); *rewrite && errors.Is(err, fs.ErrNotExist) && newest(t, version) {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what today's program finds; %s/README.md says what to do. It finds\n%s", path, released,
			got)
	}
}

// Every released experiment is read as before.
func TestReleasedAreRead(t *testing.T) {
	t.Parallel()
	for _, version := range versions(t) {
		var got strings.Builder
		for _, dir := range whole(t, version) {
			fmt.Fprintf(&got, "== %s: %s\n", filepath.Base(dir), strings.Join(trialsOf(t, dir), "\n"))
		}
		held(t, version, "answers.txt", got.String())
	}
}

// trialsOf returns everything that a record says about an experiment and its trials, one line each.
func trialsOf(t *testing.T, dir string) []string {
	t.Helper()
	e, err := view.Open(dir)
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	defer e.Close()
	m := e.Now().Machine
	outcome, why := m.Outcome()
	list := []string{fmt.Sprintf("%v %q, %d observations", outcome, why, m.Observations())}
	for no := range core.TrialNo(m.Trials()) {
		list = append(list, line(m.View(no), e.Now().Trial(no)))
	}
	return list
}

func line(v core.View, x view.Trial) string {
	var metrics []string
	for _, m := range x.Metrics {
		metrics = append(metrics, fmt.Sprintf("%s=%v", m.Name, m.Value))
	}
	return fmt.Sprintf("%d %s %v attempt %d results %d failures %d iteration %d checkpoint %d of %d %s %s %q", x.Number,
		x.ID, x.State,
		v.Attempt, x.Results, x.Failures, x.Iteration, v.Checkpoint.ID, v.Checkpoint.Trial, strings.Join(metrics,
			" "), x.Params, x.Reason)
}

// Every released record gives the same decisions again. B-102
func TestReleasedReplay(t *testing.T) {
	t.Parallel()
	for _, version := range versions(t) {
		for _, dir := range whole(t, version) {
			if changed := changedPlugins(t, dir); len(changed) > 0 {
				t.Logf("%s: not asked again, since these have another version now: %s", dir,
					strings.Join(changed, ", "))
				continue
			}
			if exit, said := tunehost(dir, "", "replay", dir); exit != 0 {
				t.Errorf("%s: exit status %d: %s\n%s/README.md says what to do", dir, exit, said, released)
			}
		}
	}
}

// changedPlugins are those of today whose version differs from the experiment's.
func changedPlugins(t *testing.T, dir string) (list []string) {
	t.Helper()
	d, err := storage.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := lockfile.Read(d)
	if err != nil || lock == nil {
		t.Fatalf("%s: %v, %v", dir, lock, err)
	}
	for _, then := range lock.Plugins {
		if !slices.ContainsFunc(plugins.Infos(), func(now sdk.Info) bool {
			return now.Kind == then.Kind && now.Name == then.Name && now.Version == then.Version
		}) {
			list = append(list, string(then.Kind)+" "+then.Name)
		}
	}
	return list
}

// continued has the commands that continue copies, with their exit statuses. The other copies are
// resumed, with status 0.
var continued = map[string]struct {
	args  func(dir string) []string
	stdin string
	exit  int
}{
	"failures": {exit: 1}, // trials are in ERROR
	"timed":    {args: asked},
	"asktell": {args: asked, stdin: `{"ask":true}
{"tell":"` + naming.ID(8, 3) + `","metrics":{"score":0.25}}
{"ask":true}
{"tell":"` + naming.ID(8, 4) + `","metrics":{"score":0.5}}
{"ask":true}
`},
}

// Today's program continues a copy of each released experiment to its end. Finished ones stay as they
// were, and the whole record can be replayed. B-080, B-084
func TestReleasedContinue(t *testing.T) {
	t.Parallel()
	for _, version := range versions(t) {
		for _, original := range whole(t, version) {
			t.Run(filepath.Base(version)+"/"+filepath.Base(original), func(t *testing.T) {
				t.Parallel()
				continueCopy(t, original)
			})
		}
	}
}

// asked are the arguments of a session that continues one.
func asked(dir string) []string {
	return []string{"asktell", filepath.Join(dir, "experiment.yaml"), "--storage", filepath.Dir(dir), "--name",
		filepath.Base(dir), "--accept-plugins"}
}

func continueCopy(t *testing.T, original string) {
	dir := clone(t, original)
	how := continued[filepath.Base(original)]
	args := []string{"resume", dir, "--resources", "cpu=3", "-v", "0", "--accept-plugins"}
	if how.args != nil {
		args = how.args(dir)
	}
	exit, said := tunehost(dir, how.stdin, args...)
	if exit != how.exit || strings.Contains(said, `"error"`) {
		t.Fatalf("exit status %d, not %d: %s", exit, how.exit, said)
	}
	before, after := trialsOf(t, original), trialsOf(t, dir)
	for i, l := range before[1:] {
		if ended(l) && after[i+1] != l {
			t.Errorf("it had ended as\n%s\nand is\n%s", l, after[i+1])
		}
	}
	for _, l := range after[1:] {
		if !ended(l) {
			t.Errorf("it has not ended: %s", l)
		}
	}
	if changed := changedPlugins(t, original); len(changed) > 0 {
		return // earlier versions of them have made some of the decisions
	}
	if exit, said := tunehost(dir, "", "replay", dir); exit != 0 {
		t.Errorf("replay: exit status %d: %s", exit, said)
	}
}

func ended(line string) bool {
	return strings.Contains(line, " TERMINATED ") || strings.Contains(line, " ERROR ")
}
