package hosttest_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// telltale is a trainable that logs all that it can see of the host: its own
// environment, its arguments, and what it can read from its stdin.
var telltale = sdk.TrainablePlugin{
	Info: sdk.Info{Name: "telltale", Version: "1.0.0", Options: []byte(`{"type": "object"}`)},
	Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
			n, err := os.Stdin.Read(make([]byte, 1))
			run.Log(fmt.Sprintf("TELLTALE stdin %d %v args %q env %q", n, err, os.Args, os.Environ()))
			fmt.Println("TELLTALE", os.Environ())
			return run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: 1}}}, nil)
		}), sdk.TrainableTraits{}, nil
	},
}

const canary = "tweet-9f3b1c77"

// B-092: a secret of the host's environment reaches no plugin, and is in no file
// of the experiment and in nothing that is shown. A program of the command
// trainable is the user's own, and sees it unless the file says otherwise.
func TestSecretsStayAtHome(t *testing.T) {
	t.Parallel()
	for name, trainable := range map[string]string{
		"plugin":  "{plugin: telltale}",
		"program": `{command: ["./train.sh"]}`,
		"alone":   `{command: ["./train.sh"], inherit_env: false}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: `+trainable+`
space: {x: {uniform: [0, 1]}}
searcher: random
scheduler: {plugin: asha, max: 4}
reporters: [jsonl, csv, lines]
trials: 2
`, map[string]string{"train.sh": `
#!/bin/sh
[ -n "$SECRET_TOKEN" ] && touch saw-it
echo '{"score": 1}'
`})
			said := x.start(t, "SECRET_TOKEN="+canary).ends(t, 0)
			if strings.Contains(said, canary) {
				t.Errorf("it is shown:\n%s", said)
			}
			for _, path := range holding(t, x.dir, canary) {
				t.Errorf("it is in %s", path)
			}
			if told := holding(t, x.dir, "TELLTALE"); name == "plugin" && len(told) == 0 {
				t.Error("the plugin has told nothing")
			}
			if log, _ := os.ReadFile(filepath.Join(x.dir, "host.log")); name == "plugin" && !strings.Contains(string(log), "stdin 0 EOF") {
				t.Error("it has a stdin")
			}
			saw, _ := filepath.Glob(filepath.Join(x.dir, "trials", "*", "saw-it"))
			if want := map[string]int{"plugin": 0, "program": 2, "alone": 0}[name]; len(saw) != want {
				t.Errorf("%d programs saw it, want %d", len(saw), want)
			}
			hosttest.CheckFinished(t, x.dir, 2)
		})
	}
}

// holding are the files below dir that hold a text.
func holding(t *testing.T, dir, text string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), text) || strings.Contains(path, text) {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// fickle is a scheduler that pauses each trial at its first result, and lets it go
// on once it has paused.
var fickle = sdk.SchedulerPlugin{
	Info: sdk.Info{Name: "fickle", Version: "1.0.0", Options: []byte(`{"type": "object"}`)},
	Open: func(sdk.Problem, []byte) (sdk.Scheduler, sdk.Traits, error) { return fickleness{}, sdk.Traits{}, nil },
}

type fickleness struct{}

func (fickleness) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, err error) {
	for _, e := range events {
		switch {
		case e.Kind == sdk.ResultReported && e.Attempt == 1:
			out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Pause, Reason: "later"})
		case e.Kind == sdk.TrialPaused:
			out.Commands = append(out.Commands, sdk.Command{Kind: sdk.Resume, Trial: e.Trial, Reason: "now"})
		}
	}
	return out, nil
}

// A program hears continue, pause or stop in answer to its reports, as the host
// means it; B-010.
func TestProgramsHearOfPauses(t *testing.T) {
	t.Parallel()
	client, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	x := program(t, `
#!/bin/sh
for i in 1 2 3 4 5; do
	answer=$(`+client+` report-client score $i) || exit 1
	echo "$answer" >> ../../../answers
	[ "$answer" = continue ] || exit 0
done
`, "scheduler: fickle\nstop: {score: 3}\n")
	x.run(t, 0)
	answers, err := os.ReadFile(filepath.Join(x.Storage, "answers"))
	if err != nil || string(answers) != "pause\ncontinue\ncontinue\nstop\n" {
		t.Errorf("the program heard %q (%v)", answers, err)
	}
	hosttest.CheckReplay(t, x.dir, plugged)
}
