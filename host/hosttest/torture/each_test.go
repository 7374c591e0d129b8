package torture

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// brief returns a short experiment for a fault.
func brief(fault string) kind {
	switch fault {
	// it has children without a waiting parent
	case "kill trial", "kill child", "kill host", "kill group", "kill host and reaper":
		return kind{trials: 3, logs: true, scripts: map[string]string{"train.sh": printing}, yaml: header + quality + `
trainable: {command: ["./train.sh"]}
trials: 3
`}
	case "interrupt twice": // trials that do not stop when told
		return kind{trials: 3, yaml: strings.Replace(header, "stop_grace: 2s", "stop_grace: 1h", 1) + quality + `
trainable: {plugin: chaos, options: {iterations: 30, sleep: 0.03, any_params: true, ignore_term: true, stop_delay: ` +
			`3600}}
trials: 3
`}
	}
	return kind{trials: 4, logs: true, yaml: keeping + `
searcher: random
scheduler: {plugin: asha, max: 9}
trials: 4
`}
}

// said is the message of a host about a fault.
var said = map[string]string{
	"full disk":     "the disk has space again",
	"no record":     "was removed or moved away",
	"frozen record": "operation not permitted",
}

// Each fault once. The experiment finishes, by itself or
// after it is resumed, and its record has everything that its trainables
// were told is recorded.
// B-024, B-025, B-080, B-084, B-085, B-087, B-092
func TestEachFault(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			if f.name == "full disk" && !mountable() {
				t.Skip("no file system can be mounted here; core/journal and host/report/files have disks that are " +
					"full of their own")
			}
			if f.possible != nil && !f.possible(&experiment{kind: brief(f.name), small: f.name == "full disk"}) {
				t.Skip("only root can do this to others' processes")
			}
			for range 3 { // an experiment may end before the fault
				if done, spared := once(t, f); spared != "" {
					t.Skip(spared)
				} else if done || t.Failed() {
					return
				}
			}
			t.Error("three experiments, and none has suffered it")
		})
	}
}

// once injects a fault into an experiment; done says whether it happened, spared why it is impossible.
func once(t *testing.T, f fault) (done bool, spared string) {
	x := prepare(t, brief(f.name), f.name == "full disk")
	h := x.start(t)
	if !h.await(t, patience, x.reports) {
		t.Fatalf("nothing was reported:\n%s", h.said())
	}
	f.do(t, h, rand.New(rand.NewPCG(2, 0)))
	h.ends(t)
	h.judge(t)
	x.alone(t)
	if !h.harmed {
		return false, h.spared
	}
	if want := said[f.name]; !strings.Contains(h.said(), want) {
		t.Errorf("the host has not said %q:\n%s", want, h.said())
	}
	x.finish(t)
	x.audit(t)
	return true, ""
}

// reports reports whether a trial has reported something.
func (x *experiment) reports() bool {
	list, _ := filepath.Glob(filepath.Join(x.dir, "trials", "*", "result.jsonl"))
	return len(list) > 0
}
