package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
			if log, _ := os.ReadFile(filepath.Join(x.dir, "host.log")); name == "plugin" &&
				!strings.Contains(string(log), "stdin 0 EOF") {
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

// B-092: secrets in crash outputs, in arguments of processes, and in what lies
// around in folders for temporary files. A trial crashes, a scheduler does, and a
// program looks at all processes while they run.
func TestSecretsOfCrashes(t *testing.T) {
	t.Parallel()
	for name, trainable := range map[string]string{
		"plugin": `{plugin: chaos, options: {iterations: 9, crash_at: 2, crash: panic_elsewhere, fail_times: 1, ` +
			`any_params: true}}`,
		"program": `{command: ["./train.sh"], inherit_env: false}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := write(t, "", map[string]string{"train.sh": `
#!/bin/sh
for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline; echo; done >arguments 2>/dev/null
for i in 1 2 3 4 5; do echo "{\"score\": $i}"; done
echo "last words" >&2
kill -SEGV $$
`})
			root := filepath.Dir(x.File)
			tmp := filepath.Join(root, "tmp")
			if err := os.Mkdir(tmp, 0o700); err != nil {
				t.Fatal(err)
			}
			put(t, x.File, `
version: 1
objective: {metric: score, mode: max}
trainable: `+trainable+`
space: {quality: {uniform: [0, 1]}}
searcher: random
scheduler: {plugin: rogue, do: panic elsewhere, times: 1, mark: `+filepath.Join(root, "lives")+`}
failures: {retries: 1}
checkpoint: {every: 1}
reporters: [jsonl, csv, lines]
trials: 2
seed: 1
`)
			p := x.start(t, "SECRET_TOKEN="+canary, "TMPDIR="+tmp)
			x.await(t, p, func() bool { return len(holding(t, x.dir, `"score"`)) > 0 })
			for _, text := range append(hosttest.Processes(root), holding(t, tmp, canary)...) {
				if strings.Contains(text, canary) || strings.HasPrefix(text, tmp) {
					t.Errorf("while it runs it is in %s", text)
				}
			}
			said := p.ends(t, map[string]int{"plugin": 0, "program": exitErrored}[name])
			if strings.Contains(said, canary) {
				t.Errorf("it is shown:\n%s", said)
			}
			for _, path := range holding(t, root, canary) {
				t.Errorf("it is in %s", path)
			}
			if log, err := os.ReadFile(filepath.Join(x.dir, "host.log")); err != nil ||
				!strings.Contains(string(log), "no luck") {
				t.Errorf("the scheduler has not crashed, or its last words are lost: %v", err)
			}
			if looked := holding(t, x.dir, "train.sh"); name == "program" && len(looked) < 2 {
				t.Errorf("the program has not looked: %q", looked)
			}
		})
	}
}

// holding are the files below dir that hold a text.
func holding(t *testing.T, dir, text string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // it has gone meanwhile
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
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

// A host that fails itself leaves a report, and the canary is not in it.
func TestSecretsOfAHostThatFails(t *testing.T) {
	t.Parallel()
	x := write(t, endless, nil)
	p := x.start(t, "SECRET_TOKEN="+canary)
	x.awaitResults(t, p, 1)
	p.signal(t, syscall.SIGABRT)
	<-p.exit
	if said := p.out.String(); !strings.Contains(said, "goroutine") || strings.Contains(said, canary) {
		t.Errorf("no traces of goroutines, or the canary:\n%.2000s", said)
	}
	if report := holding(t, x.dir, "goroutine "); len(report) == 0 {
		t.Error("there is no report")
	}
	for _, path := range holding(t, filepath.Dir(x.File), canary) {
		t.Errorf("it is in %s", path)
	}
}
