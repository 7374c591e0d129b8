package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func withGrace(run *fakeRun, seconds float64) *fakeRun {
	run.trial.GraceSeconds = seconds
	return run
}

// Output that is almost a result causes a hint about the mistake.
func TestHints(t *testing.T) {
	for script, want := range map[string]string{
		`echo '{"acc": 0.9, "loss": 1}'`: "it printed acc, loss, and no accuracy; did you mean " +
			"objective.metric: acc?",
		`echo '{"val": {"accuracy": 0.9}, "loss": 1}'`: "did you mean objective.metric: val/accuracy?",
		`echo '{"score": 0.9}'`:                        "did you mean objective.metric: score?",
		`echo '{"accuracy": "0.93"}'`: `it printed accuracy as the text "0.93"; print ` +
			`a number`,
		`echo '{"accuracy": null}'`:            "it printed accuracy as null",
		`echo '{"accuracy": [0.9]}'`:           "it printed accuracy as a list",
		`echo "{'accuracy': 0.9}"`:             "single quotes",
		`echo '{"accuracy": 0.9, "ok": True}'`: "True is Python, not JSON",
		`echo '{"accuracy": nan}'`:             "write NaN",
		`echo '{"accuracy": 0.9,}'`:            "comma before a closing brace",
		`echo '{accuracy: 0.9}'`:               "names have no quotes",
		`echo '{"accuracy": np.float64(0.9)}'`: "np.float64",
		`echo '{"accuracy": 0.9 0.8}'`:         "at column 18",
		`echo 'INFO: {"accuracy": 0.9}'`:       "other text around it",
		`echo '[{"accuracy": 0.9}]'`:           "is a JSON list, and must be an object alone",
		`printf '{\n  "accuracy": 0.9\n}\n'`:   "over several lines",
		`printf '{"accuracy": 1, "x": "%2000000d"}\n' 1`: "begins like a result has 2000024 bytes, and a result may " +
			"have 1048576",
		`printf '{"x": "%2000000d", "accuracy": 1}\n' 1`:       "begins like a result has 2000024 bytes",
		`echo 'Epoch 3: accuracy: 0.93'`:                       `metrics: {accuracy: 'accuracy: ([-+.0-9eE]+)'}`,
		`echo 'Test Accuracy = 93.1%'`:                         `metrics: {accuracy: 'Accuracy = ([-+.0-9eE]+)'}`,
		`echo 'acc=0.9 loss=0.3'`:                              "did you mean objective.metric: acc",
		`echo '/a/b/rep.sh: 4: cannot create x' >&2`:           "it printed nothing to stdout",
		`echo 'rep.sh: 4: x: not found' >&2`:                   "it printed nothing to stdout",
		`echo '/a/b.log: acc=0.9'`:                             "did you mean objective.metric: acc,",
		`echo hello`:                                           "nothing that it printed looks like a result",
		`:`:                                                    "it printed nothing to stdout",
		`echo '{"accuracy": 0.9}' >&2`:                         "it printed its results to stderr",
		`echo 'accuracy: 0.9' >&2`:                             "as text on stderr",
		`for i in 1 2 3; do echo "{'a': $i}"; done; sleep 0.1`: "single quotes",
	} {
		run := newRun(t)
		mustTrain(t, sh(script), run)
		if len(run.hints) != 1 || !strings.Contains(run.hints[0], want) || strings.Contains(run.hints[0], "\n") {
			t.Errorf("%s:\n  %s\nwant %s", script, run.hinted(), want)
		}
	}
}

// A line after the first result that is meant as one and is none is a mistake, too: a program that diverges may print
// nan. What else a program prints is not.
func TestHintsAfterAResult(t *testing.T) {
	for line, want := range map[string]string{
		`{"accuracy": nan}`:                "write NaN",
		`{"accuracy": inf, "x": 1}`:        "write NaN",
		`{"x": 1, "accuracy": NAN}`:        "column",
		`{'x': 1, 'accuracy': 3}`:          "single quotes",
		`{accuracy: 3}`:                    "names have no quotes",
		`{"accuracy": 5`:                   "does not end it",
		`{"accuracy": 08}`:                 "looked like JSON",
		`{"accuracy": 4,}`:                 "comma before a closing brace",
		`[{"accuracy": 9}]`:                "is a JSON list",
		`{"accuracy": 6} trailing`:         "other text around it",
		`{"accuracy": null}`:               "it printed accuracy as null",
		`{"accuracy": "1"}`:                `it printed accuracy as the text "1"`,
		`{"accuracy": 0.9} {x`:             "other text around it",
		`{"x": 1}`:                         "",
		`{"x": 0.9} so far`:                "",
		`{accuracy} is 0.9`:                "",
		`{`:                                "",
		`{x: 1, y: "accuracy"}`:            "",
		`{'inaccuracy': 1}`:                "",
		`INFO: {"accuracy": 0.9}`:          "",
		`accuracy 0.9`:                     "",
		`{"config": {"accuracy_of": nan}}`: "",
	} {
		run := newRun(t)
		o := sh(`echo '{"accuracy": 1}'; printf '%s\n%s\n' "$line" "$line"`)
		o["env"] = map[string]string{"line": line}
		mustTrain(t, o, run)
		if got := run.hinted(); !strings.Contains(got, want) || (want == "") != (got == "") || len(run.hints) > 1 {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// A metric that comes after its objective is of no result at the end.
func TestHintAtLateMetrics(t *testing.T) {
	o := sh("echo loss 1; echo accuracy 2")
	o["metrics"] = map[string]string{"accuracy": `accuracy (\d)`, "loss": `loss (\d)`}
	for objective, want := range map[string]string{"accuracy": "", "loss": "it printed accuracy, which belongs to no " +
		"result: print such a metric before loss"} {
		o["objectives"] = []string{objective}
		run := newRun(t)
		mustTrain(t, o, run)
		if got := strings.Join(run.hints, " | "); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", objective, got, want)
		}
	}
}

// A trial that continues, or was restarted, may have reported everything before: missing results
// are not a mistake. Wrong output is.
func TestHintsOfATrialThatGoesOn(t *testing.T) {
	for script, want := range map[string]string{`:`: "", `echo done`: "", `echo 'epoch=5' >&2`: "",
		`echo '{"acc": 1}'`: "did you mean"} {
		restored, again := newRun(t), newRun(t)
		restored.trial.Restore, restored.trial.Iteration, restored.trial.Attempt = t.TempDir(), 9, 2
		again.trial.Attempt = 2
		for _, run := range []*fakeRun{restored, again} {
			mustTrain(t, sh(script), run)
			if got := run.hinted(); want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("%s: %q", script, got)
			}
		}
	}
}

// Hints do not wait for the end of a long program, and a program that reports gets no hints about
// other output.
func TestHintsMidway(t *testing.T) {
	run := newRun(t)
	ended := false
	run.hear = func(string) {
		_, err := os.Stat(filepath.Join(run.trial.Dir, "ended"))
		ended = err == nil
		_ = os.WriteFile(filepath.Join(run.trial.Dir, "heard"), nil, 0o600)
	}
	mustTrain(t, sh(`while [ ! -e heard ]; do echo '{"acc": 1}'; sleep 0.001; done; touch ended`), run)
	if ended || len(run.hints) != 1 {
		t.Errorf("at the end: %v; %s", ended, run.hinted())
	}
	run = newRun(t)
	mustTrain(t, sh(`echo '{"config": 1}'; echo "{'a': 2}"; echo '{"accuracy": 1}'; for i in 1 2 3 4; do echo `+
		`'{"acc": 1}'; done`), run)
	if run.hinted() != "" {
		t.Error(run.hinted())
	}
}

// Many clues are concluded once, and not at each line.
func TestEnoughOnce(t *testing.T) {
	c := newClues([]string{"accuracy"}, false)
	said := 0
	for range 10 {
		c.stdout([]byte(`{'acc': 1}`), nil, errors.New("not JSON"))
		if c.enough() {
			said++
		}
	}
	if said != 1 {
		t.Errorf("%d times", said)
	}
}

// Each trial without a result says why, once: its mistake can be another one than that of the trial before.
func TestHintsOfEachTrial(t *testing.T) {
	p := openTest(t, sh(`if mkdir ../first; then echo '{"acc": 1}'; else for i in 1 2 3 4; do `+
		`echo "{'accuracy': $i}"; done; fi`))
	run := newRun(t)
	other := newRun(t)
	other.trial.Dir = filepath.Join(filepath.Dir(run.trial.Dir), "other")
	if err := os.MkdirAll(other.trial.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, run := range []*fakeRun{run, other} {
		if err := p.Train(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	if len(run.hints) != 1 || len(other.hints) != 1 || !strings.Contains(run.hinted(), "it printed acc") ||
		!strings.Contains(other.hinted(), "single quotes") {
		t.Errorf("%q and %q", run.hints, other.hints)
	}
}

// Reports on the channel without the objective also cause a hint.
func TestHintsOfTheChannel(t *testing.T) {
	for metrics, want := range map[string]string{`{"acc": 1}`: "it reported acc, and no accuracy; did you mean",
		`{"accuracy": "1", "b": 2}`: `it reported accuracy as the text "1"`} {
		run := newRun(t)
		mustTrain(t, python(t, pythonChannel+`ask('{"metrics":`+metrics+`}')`), run)
		wantContains(t, run.hinted(), want)
	}
}

// Iterations that begin at 0 and then repeat are two mistakes, and the user is told of both.
func TestHintsAtIterations(t *testing.T) {
	run := newRun(t)
	mustTrain(t, sh(`for i in 0 1 1 5; do echo "{\"accuracy\": 1, \"training_iteration\": $i}"; done`), run)
	if text := run.hinted(); len(run.hints) != 2 || !strings.Contains(text, "from 0") ||
		!strings.Contains(text, "iteration 1 after iteration 1") {
		t.Errorf("%s", text)
	}
}
