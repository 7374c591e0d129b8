package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-080: what is taken away or cut while a host runs is said in one line, and the run does
// not end well, also where nothing of it was needed any more. One trial does it, for what is
// put back would be taken away again by the next. A folder in which the host makes a file meanwhile is
// not empty for rm, which then tries again.
func TestTakenAway(t *testing.T) {
	for what, c := range map[string]struct{ do, want string }{
		"trials removed":  {"until rm -rf ../../trials; do :; done", "trials was removed or moved away"},
		"trials failed":   {"until rm -rf ../../trials; do :; done; exit 1", "trials was removed or moved away"},
		"trials moved":    {"mv ../../trials ../../elsewhere", "trials was removed or moved away"},
		"trials replaced": {"mv ../../trials ../../elsewhere; mkdir ../../trials", "trials was removed or moved away"},
		"trials made anew": {`mv ../../trials ../../elsewhere; mkdir -p "$TUNEHOST_CHECKPOINT_DIR/c"`,
			"trials was removed or moved away"},
		"journal cut":     {"truncate -s 100 ../../journal/*.tj", "was changed by another program"},
		"journal removed": {"until rm -rf ../../journal; do :; done", "was removed or moved away"},
		"all removed":     {"until rm -rf ../../../test; do :; done", "was removed or moved away"},
		"lock removed":    {"rm -f ../../LOCK", "LOCK was removed or replaced"},
		"lock replaced":   {"cp ../../LOCK ../../L && mv ../../L ../../LOCK", "LOCK was removed or replaced"},
		"run.json gone": {"rm -f ../../run.json", "run.json was removed by another program while the host ran: it is " +
			"restored"},
		"run.json new":    {"echo {{}} > ../../run.json", "run.json was changed by another program"},
		"run.json folder": {"rm -f ../../run.json; mkdir ../../run.json", "run.json was "},
		"plugins unlock":  {"rm -f ../../tunehost.lock", "tunehost.lock was removed by another program"},
		"file changed":    {"echo x >> ../../experiment.yaml", "experiment.yaml was changed by another program"},
	} {
		for _, trials := range []string{"1", "20"} {
			t.Run(what+" of "+trials, func(t *testing.T) {
				t.Parallel()
				o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable:
  command: [sh, -c, 'echo "{{\"score\": {x}}}"; if mkdir ../../../once; then `+c.do+`; fi']
space: {x: {uniform: [0, 1]}}
trials: `+trials+`
concurrency: 1
`)
				ended, err := run(t.Context(), o)
				if strings.HasPrefix(c.want, "trials") && ended.Errored > 0 {
					t.Errorf("%d trials have failed of it", ended.Errored)
				}
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v, want %q", err, c.want)
				}
			})
		}
	}
}

// What is needed to continue is put back, and what was put in its place stays.
func TestPutBack(t *testing.T) {
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable:
  command: [sh, -c, 'echo "{{\"score\": {x}}}"; if mkdir ../../done; then rm -f ../../run.json; echo mine > `+
		`../../run.json; fi']
space: {x: {uniform: [0, 1]}}
trials: 5
concurrency: 1
`)
	o.Sets = append(o.Sets, "concurrency=1")
	if _, err := run(t.Context(), o); err == nil ||
		!strings.Contains(err.Error(), "run.json.changed-1; resume the experiment") {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(o.Storage, "test", "run.json.changed-1")); err != nil ||
		string(text) != "mine\n" {
		t.Errorf("what was put there is %q, %v", text, err)
	}
	if ended := finish(t, o); ended.Errored > 0 {
		t.Errorf("%+v", ended)
	}
}

// B-155: a record that is moved away while the host of an existing experiment opens its plugins, and
// tells them what they knew, is a mistake that the user is told in one line.
func TestTakenWhilePluginsOpen(t *testing.T) {
	taken := ""
	taker := sdk.SearcherPlugin{
		Info: sdk.Info{Name: "taker", Version: "1", Options: noOptions},
		Open: func(p sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
			if taken != "" {
				if err := os.Rename(taken, taken+".away"); err != nil {
					return nil, sdk.Traits{}, err
				}
			}
			return learner.Open(p, options)
		},
	}
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\nsearcher: taker\ntrials: 2\n"), taker)
	taken = filepath.Join(finish(t, o).Dir, "journal")
	o.Sets = append(o.Sets, "trials=3")
	_, err := run(t.Context(), o)
	if wrong := new(usererror.Error); !errors.As(err, &wrong) {
		t.Errorf("no mistake of the user: %v", err)
	}
	if said := err.Error(); strings.Contains(said, "\n") || strings.Contains(said, "file does not exist") {
		t.Error(said)
	}
	contains(t, err.Error(), taken+": the experiment's record is gone: put it back")
}
