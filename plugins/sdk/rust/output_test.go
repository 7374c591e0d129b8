package rust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// talker is a reusable trainable that prints its id.
func talker(t *testing.T) (talk func(run uint64, trial sdk.Trial) train.Event, p *process.Process, out *output) {
	t.Helper()
	sample(t, "trainable") // builds the probe as well
	p, out = start(t, sdk.KindTrainable, filepath.Join(tools(t), "cargo", "debug", "examples", "probe"), "trainable")
	trainer, err := p.OpenTrainable(t.Context(), []byte(`{"do": "reusable"}`))
	if err != nil {
		t.Fatal(err)
	}
	return func(run uint64, trial sdk.Trial) train.Event {
		trial.ID, trial.Params = fmt.Sprintf("t%d", run), []byte(`{"do": "talk"}`)
		command(t, trainer, train.Command{Kind: train.Start, Run: run, Trial: &trial})
		for {
			for _, e := range events(t, trainer) {
				if e.Kind == train.Ended {
					return e
				}
			}
		}
	}, p, out
}

// The output of each of several trials of one process goes to its own files, under the names that
// the experiment gives them; output without a file name is dropped. Log lines always go to the log.
func TestOutputOfTrials(t *testing.T) {
	talk, p, out := talker(t)
	for i, logs := range []*sdk.Logs{nil, {Stdout: "out.txt", Stderr: "errors.txt"}, {Stderr: "errors.txt"}, {}, nil} {
		dir, run := t.TempDir(), uint64(i+1)
		if e := talk(run, sdk.Trial{Dir: dir, Logs: logs}); e.Error != "" {
			t.Fatal(e.Error)
		}
		names, want := sdk.Logs{Stdout: "stdout", Stderr: "stderr"}, map[string]string{}
		if logs != nil {
			names = *logs
		}
		want[names.Stdout] = fmt.Sprintf("out t%d, child t%d\nno end", run, run)
		want[names.Stderr] = fmt.Sprintf("err t%d\n", run)
		delete(want, "")
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != len(want) {
			t.Errorf("%+v: %v, %v", names, files, err)
		}
		for name, text := range want {
			if got := string(read(t, filepath.Join(dir, name))); got != text {
				t.Errorf("%s of trial %d is %q, want %q", name, run, got, text)
			}
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"logged t1", "logged t5"} {
		if !out.has("info", text) {
			t.Errorf("the log lacks %q", text)
		}
	}
}

// The SDK does not write to anything but a regular file.
func TestOutputFollowsNoLink(t *testing.T) {
	talk, _, _ := talker(t)
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.Symlink(secret, filepath.Join(dir, "stderr")); err != nil {
		t.Fatal(err)
	}
	if e := talk(1, sdk.Trial{Dir: dir}); !e.NeverStarted || e.Error == "" {
		t.Errorf("%+v", e)
	}
	if _, err := os.Stat(secret); err == nil {
		t.Error("the link was followed")
	}
}
