package python_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// The output of each of three trials goes to its own files, in forks and in one process; values
// that are not numbers are kept with the result.
func TestOutputOfTrials(t *testing.T) {
	for _, args := range [][]string{nil, {"--reusable"}} {
		c := config(t, sdk.KindTrainable, "testdata/talker.py")
		c.Args = append(c.Args, args...)
		d := newDriver(t, c, "")
		for run := uint64(1); run <= 3; run++ {
			dir, name := t.TempDir(), fmt.Sprintf("t%d", run)
			d.start(run, fmt.Sprintf(`{"name": %q}`, name), sdk.Trial{Dir: dir})
			if e := d.want(train.Result, ""); string(e.Values) != fmt.Sprintf(`{"note": %q}`, name) {
				t.Errorf("%s beside the metrics", e.Values)
			}
			d.continues(run)
			d.want(train.Ended, "")
			if got, want := readFile(t, dir, "stdout"), fmt.Sprintf("out %s\nchild %s\nno end", name,
				name); got != want {
				t.Errorf("%v: stdout is %q, want %q", args, got, want)
			}
			if got := readFile(t, dir, "stderr"); !strings.HasPrefix(got, "err "+name+"\n") ||
				strings.Count(got, "\n") != 2 || !strings.Contains(got, "logged "+name) {
				t.Errorf("%v: stderr is %q", args, got)
			}
		}
	}
}

// The experiment names the files; output without a file name is dropped.
func TestOutputInNamedFiles(t *testing.T) {
	for _, args := range [][]string{nil, {"--reusable"}} {
		c := config(t, sdk.KindTrainable, "testdata/talker.py")
		c.Args = append(c.Args, args...)
		d := newDriver(t, c, "")
		for i, logs := range []sdk.Logs{{Stdout: "out.txt", Stderr: "errors.txt"}, {Stdout: "out.txt"}, {}} {
			dir, run := t.TempDir(), uint64(i+1)
			d.start(run, `{"name": "x"}`, sdk.Trial{Dir: dir, Logs: &logs})
			d.want(train.Result, "")
			d.continues(run)
			d.want(train.Ended, "")
			var got []string
			for _, name := range []string{"out.txt", "errors.txt", "stdout", "stderr"} {
				if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
					got = append(got, name+": "+strings.Fields(string(text))[0])
				}
			}
			if want := []string{"out.txt: out", "errors.txt: err"}[:2-i]; !slices.Equal(got, want) {
				t.Errorf("%v, %+v: %q", args, logs, got)
			}
		}
	}
}

func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// The SDK does not write to anything but a regular file.
func TestOutputFollowsNoLink(t *testing.T) {
	for _, args := range [][]string{nil, {"--reusable"}} {
		c := config(t, sdk.KindTrainable, "testdata/talker.py")
		c.Args = append(c.Args, args...)
		d, dir, secret := newDriver(t, c, ""), t.TempDir(), filepath.Join(t.TempDir(), "secret")
		if err := os.Symlink(secret, filepath.Join(dir, "stderr")); err != nil {
			t.Fatal(err)
		}
		d.send(train.Command{Kind: train.Start, Run: 1, Trial: &sdk.Trial{Dir: dir, Params: []byte(`{"name":"x"}`)}})
		for e := d.next(); e.Kind != train.Ended || e.Error == ""; e = d.next() {
			if e.Kind == train.Result {
				t.Fatal("it trains")
			}
		}
		if _, err := os.Stat(secret); err == nil {
			t.Error("the link was followed")
		}
	}
}
