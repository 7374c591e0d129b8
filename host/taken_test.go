package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// B-080: what is taken away or cut while a host runs is said in one line, and the run does
// not end well, also where nothing of it was needed any more. One trial does it, for what is
// put back would be taken away again by the next.
func TestTakenAway(t *testing.T) {
	for what, c := range map[string]struct{ do, want string }{
		"trials removed":  {"rm -rf ../../trials", "trials was removed or moved away"},
		"trials failed":   {"rm -rf ../../trials; exit 1", "trials was removed or moved away"},
		"trials moved":    {"mv ../../trials ../../elsewhere", "trials was removed or moved away"},
		"journal cut":     {"truncate -s 100 ../../journal/*.tj", "was changed by somebody else"},
		"journal removed": {"rm -rf ../../journal", "was removed or moved away"},
		"all removed":     {"rm -rf ../../../test", "was removed or moved away"},
		"lock removed":    {"rm -f ../../LOCK", "LOCK was removed or replaced"},
		"lock replaced":   {"cp ../../LOCK ../../L && mv ../../L ../../LOCK", "LOCK was removed or replaced"},
		"run.json gone":   {"rm -f ../../run.json", "run.json was removed by somebody else while the host ran: it is put back"},
		"run.json new":    {"echo {{}} > ../../run.json", "run.json was changed by somebody else"},
		"run.json folder": {"rm -f ../../run.json; mkdir ../../run.json", "run.json was "},
		"plugins unlock":  {"rm -f ../../tunehost.lock", "tunehost.lock was removed by somebody else"},
		"file changed":    {"echo x >> ../../experiment.yaml", "experiment.yaml was changed by somebody else"},
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
				ended, err := Run(t.Context(), o)
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

// What is needed to go on is put back, and what was put in its place stays.
func TestPutBack(t *testing.T) {
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable:
  command: [sh, -c, 'echo "{{\"score\": {x}}}"; if mkdir ../../done; then rm -f ../../run.json; echo mine > ../../run.json; fi']
space: {x: {uniform: [0, 1]}}
trials: 5
concurrency: 1
`)
	o.Sets = append(o.Sets, "concurrency=1")
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "run.json.changed-1; go on with the experiment") {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(o.Storage, "test", "run.json.changed-1")); err != nil || string(text) != "mine\n" {
		t.Errorf("what was put there is %q, %v", text, err)
	}
	if ended := finish(t, o); ended.Errored > 0 {
		t.Errorf("%+v", ended)
	}
}
