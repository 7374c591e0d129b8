package validate

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
)

// Nothing that the file sets is ignored silently: a key that changes nothing beside the others is a warning with its
// place. Where it does something there is none.
func TestUnusedKeys(t *testing.T) {
	t.Parallel()
	const (
		command = "trainable: {command: [train]}"
		chaos   = "trainable: {plugin: chaos}"
		grid    = "space: {x: {grid: [1, 2]}}\n"
		pack    = "placement: {strategy: pack, bundles: [{cpu: 1}]}"
		spread  = "placement: {strategy: spread, bundles: [{cpu: 1}]}"
		group   = "placement: {strategy: spread, bundles: [{cpu: 1}, {cpu: 1}]}"
	)
	for _, c := range []struct{ trainable, text, want string }{
		{command, "reuse: true", "reuse has no effect: a command is started once for each trial"},
		{command, "reuse: auto", ""},
		{chaos, "reuse: true", ""},
		{command, "wait_for_resources: true\nexecutor: fake", "wait_for_resources has no effect: trials wait"},
		{command, "wait_for_resources: false\nexecutor: fake", ""},
		{command, "wait_for_resources: true", ""},
		{command, pack, ""},
		{command, spread, "placement.strategy has no effect: there is only one bundle"},
		{command, group, ""},
		{command, "checkpoint: {score: loss}", "checkpoint.score has no effect: it chooses which checkpoints are kept"},
		{command, "checkpoint: {score: loss, keep: 1}", ""},
		{command, "checkpoint: {pauses: memory}", "checkpoint.pauses has no effect: a program makes its own"},
		{command, "checkpoint: {pauses: disk}", ""},
		{chaos, "checkpoint: {pauses: memory, every: 1}", ""},
		{command, "failures: {lost: 3}", "failures.lost has no effect: trials run on this machine"},
		{command, "failures: {lost: 3}\nexecutor: fake", ""},
		{command, "failures: {retries: 3}", ""},
		{command, grid + "searcher: tpe", "searcher has no effect: nothing in the space is searched"},
		{command, grid + "searcher: auto", ""},
		{command, grid + "searcher: ./mine", ""},
		{command, grid, ""},
		{command, "space: {x: {grid: [1, 2]}, y: {uniform: [0, 1]}}\nsearcher: tpe\ntrials: 3", ""},
		{command, "deadlines: {lease: 1m}", "deadlines.lease has no effect: it is a call of an executor"},
		{command, "deadlines: {lease: 1m}\nexecutor: fake", ""},
		{command, "deadlines: {request: 1m}", "deadlines.request has no effect: it is a call of a plugin that trains"},
		{chaos, "deadlines: {request: 1m}", ""},
		{command, "deadlines: {report: 1m}\nreporters: [jsonl]", "deadlines.report has no effect: it is a call"},
		{command, "deadlines: {report: 1m}\nreporters: [jsonl, ./mine]", ""},
		{command, "deadlines: {suggest: 1m, start: 1m}", ""},
		{command, "stop: {time: 0}", "stop.time has no effect: 0 is no limit"},
		{command, "stop: {time_total_s: 0}", "stop.time_total_s has no effect: 0 is no limit"},
		{command, "stop: {time: 1s}", ""},
		{command, "stop: {time_since_restore: 0}", ""},
		{command, "budget: {time: 0s}", "budget.time has no effect: 0 is no limit"},
		{command, "budget: {time: 1}", ""},
		{command, "checkpoint: {disk: 0}", "checkpoint.disk has no effect: 0 is no limit"},
		{command, "checkpoint: {disk: 1, keep: 0, every: 0}", ""},
		{command, "sandbox: {memory: 0}", "sandbox.memory has no effect: 0 is the default"},
		{command, "sandbox: {call_timeout: 0}", "sandbox.call_timeout has no effect: 0 is the default"},
	} {
		e, err := config.Parse("a.yaml", []byte("version: 1\nobjective: {metric: loss, mode: min}\n"+c.trainable+"\n"+
			c.text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		switch list := unused(e, false); {
		case c.want == "" && len(list) == 0:
		case c.want == "" || len(list) != 1 || !strings.HasPrefix(list[0].Msg, c.want) || list[0].Pos.Line == 0:
			t.Errorf("%s, %q: %v, want %q", c.trainable, c.text, list, c.want)
		}
	}
}

// Where the caller trains, keys about processes of trials do nothing.
func TestUnusedByCaller(t *testing.T) {
	t.Parallel()
	e, err := config.Parse("a.yaml", []byte("version: 1\nobjective: {metric: loss, mode: min}\nresources: {cpu: 2}\n"+
		"log: false\nconcurrency: 2\nfailures: {retries: 1}\nbudget: {time: 0}\n"), config.WithoutTrainable())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range unused(e, true) {
		got = append(got, x.Error())
	}
	want := "a.yaml:3:1: resources has no effect: your own program trains the trials: leave it out\n" +
		"a.yaml:4:1: log has no effect: your own program trains the trials: leave it out\n" +
		"a.yaml:7:10: budget.time has no effect: 0 is no limit: leave it out"
	if strings.Join(got, "\n") != want {
		t.Error(got)
	}
}
