package host

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/schedulers/pbt"
	"github.com/tunehost/tunehost/plugins/trainables/command"
)

// Settings that turn out to have no effect are said once, and in the summary.
func TestSettingsWithoutEffect(t *testing.T) {
	const file = `version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, -c, 'for i in 1 2; do echo "{\"score\": $i, \"loss\": 5}"; done']}
space: {x: {uniform: [0, 1]}}
trials: 4
concurrency: 1
`
	for add, want := range map[string]string{
		"stop: {lss: " +
			"0.1}": `stop.lss has no effect: trial 0 has reported no "lss", but score, loss; did you mean "loss"?`,
		"stop: {when: acc > " +
			"3}": `what "acc" decides in stop.when has no effect: trial 0 has reported no "acc", but score, loss`,
		"stop: {steps_total: 3}":         `stop.steps_total has no effect: trial 0 has reported no "steps_total"`,
		"stop: {plateau: {metric: acc}}": `stop.plateau has no effect`,
		"checkpoint: {score: acc}":       `checkpoint.score has no effect: trial 0 has reported no "acc"`,
		"checkpoint: {keep: 2}":          `checkpoint has no effect: trial 0 has made none`,
		"checkpoint: {every: 2}":         `checkpoint.every has no effect: a program makes checkpoints when it likes`,
		"checkpoint: {at_end: true}":     `checkpoint.at_end has no effect`,
	} {
		o, seen := quick(t, file+add, command.Plugin())
		finish(t, o)
		text := seen.String()
		warned, noted := strings.Count(text, "warning: "+o.File+":7:"), strings.Count(text, "note")
		if !strings.Contains(text, want) || strings.Count(text, want) != 2 || noted == 0 || warned == 0 {
			t.Errorf("%s: %q is there %d times:\n%s", add, want, strings.Count(text, want), text)
		}
	}
	counted, said := quick(t, file+"stop: {loss: 4}", command.Plugin())
	finish(t, counted)
	for _, who := range []string{"trial 0", "4 trials"} { // the warning at the first one, and the summary
		want := "stop: loss was at least 4 at the first result of " + who +
			", and a trial stops there; where less is better write loss: {below: 4}"
		if n := strings.Count(said.String(), want); n != 1 {
			t.Errorf("%q is there %d times:\n%s", want, n, said.String())
		}
	}
	o, seen := quick(t, file+"stop: {score: 2, loss: {below: 1}, time_since_restore: 1e9, when: "+
		"iterations_since_restore > 99}", command.Plugin())
	finish(t, o)
	if strings.Contains(seen.String(), "no effect") || strings.Contains(seen.String(), "warning") {
		t.Error(seen.String())
	}
}

// A checkpoint at the end needs a trainable that says which result is its last.
func TestNoCheckpointAtTheEnd(t *testing.T) {
	const file = `version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 3, done: %v, any_params: true}}
space: {x: {uniform: [0, 1]}}
checkpoint: {at_end: true}
trials: 2
%s
`
	const warned = "5:14: checkpoint.at_end has made no checkpoint of "
	for _, c := range []struct {
		done  bool
		more  string
		warns bool
	}{{false, "", true}, {true, "", false}, {false, "stop: {iteration: 2}", false}} {
		o, seen := quick(t, fmt.Sprintf(file, c.done, c.more))
		finish(t, o)
		if strings.Contains(seen.String(), warned) != c.warns {
			t.Errorf("done: %v %s:\n%s", c.done, c.more, seen.String())
		}
	}
}

// B-122: a silent host says of a setting without effect, too: once, and there is no summary.
func TestSettingWithoutEffectInSilence(t *testing.T) {
	o, seen := quick(t, `version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, -c, 'echo "{\"score\": 1}"']}
space: {x: {uniform: [0, 1]}}
trials: 2
stop: {epochs: 3}
`, command.Plugin())
	o.Verbose = 0
	finish(t, o)
	want := regexp.MustCompile(`^warning: \S+:6:8: stop.epochs has no effect: trial [01] has reported no "epochs", ` +
		`but score\n$`)
	if !want.MatchString(seen.String()) {
		t.Errorf("%q", seen.String())
	}
}

// Schedulers that need checkpoints, over a program that makes none: it is said once, and in the
// summary; no cause that `tunehost trials` shows speaks of a checkpoint that there is not, and pbt
// has no trial begin anew more than once.
func TestSchedulersWithoutCheckpoints(t *testing.T) {
	const file = `version: 1
objective: {metric: score, mode: max}
space: {x: {uniform: [0, 1]}}
trials: 4
resources: {cpu: 0.25}
`
	const once = "trainable: {command: [sh, -c, 'for i in 1 2 3 4 5 6 7 8; do echo \"{\\\"score\\\": $i}\"; done']}\n"
	// Who has reported a second time waits for the others, so that pbt has some to compare.
	meet := fmt.Sprintf(`trainable: {command: [sh, -c, 'for i in 1 2 3 4 5 6 7 8; do echo "{\"score\": $i}";
  touch "%[1]s/$i.$TUNEHOST_TRIAL_ID"; while [ $(ls %[1]s | grep -c "^$i") -lt 4 ]; do sleep 0.01; done; done']}
`, t.TempDir())
	const anew = "is paused and has made no checkpoint, so it will start from the beginning: a program " +
		"writes checkpoints into TUNEHOST_CHECKPOINT_DIR"
	for add, want := range map[string][]string{
		meet + "scheduler: {plugin: pbt, interval: 2}": {anew,
			"pbt has trials continue from the checkpoints of better ones, and trial ", "has made none: nothing comes " +
				"of it"},
		once + "scheduler: {plugin: asha, type: promotion, max: 8}": {anew},
	} {
		o, seen := quick(t, file+add, command.Plugin(), pbt.Plugin, asha.Plugin)
		ended := finish(t, o)
		for _, text := range want {
			if n := strings.Count(seen.String(), text); n != 2 { // as a warning, and in the summary
				t.Errorf("%s: %q is there %d times:\n%s", add, text, n, seen)
			}
		}
		m := audit(t, ended.Dir, func(m *core.Machine, _ core.Event) {
			for no := range core.TrialNo(m.Trials()) {
				if why := m.View(no).Reason(); strings.Contains(why, "is saved") || strings.Contains(why,
					"its checkpoint") {
					t.Errorf("%s: trial %d: %s", add, no, why)
				}
			}
		})
		for no := range core.TrialNo(m.Trials()) {
			if a := m.View(no).Attempt; a > 2 && strings.Contains(add, "pbt") {
				t.Errorf("%s: trial %d has begun %d times", add, no, a)
			}
		}
	}
}

// A trial that was stopped before its first checkpoint says nothing about the others, whether they have made some
// under an earlier host or will.
func TestStoppedBeforeItsFirstCheckpoint(t *testing.T) {
	const file = `version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, -c, 'for i in 1 2 3; do echo "{\"score\": {x}}"; done; d=$TUNEHOST_CHECKPOINT_DIR/1;
  mkdir $d; echo 1 >$d/state; echo "{\"score\": {x}, \"checkpoint\": \"$d\"}"']}
space: {x: {int: [1, 9]}}
points: [{x: %d}, {x: %d}]
trials: 1
concurrency: 1
stop: {score: 9}
checkpoint: {keep: 2}
`
	for _, first := range []int{1, 9} {
		o, seen := quick(t, fmt.Sprintf(file, first, 10-first), command.Plugin())
		finish(t, o)
		o.Sets = []string{"trials=2"}
		m := audit(t, finish(t, o).Dir, nil)
		if v := m.View(0); (v.Cause.Kind == core.CauseCompleted) != (first == 1) || m.Trials() != 2 {
			t.Fatalf("%d trials, the first ended with %v", m.Trials(), v.Cause)
		}
		if strings.Contains(seen.String(), "no effect") {
			t.Error(seen.String())
		}
	}
}

// A trainable is not told of what programs do.
func TestHowATrainableMakesCheckpoints(t *testing.T) {
	o, seen := quick(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: wobbly}\n"+
		"space: {x: {uniform: [0, 1]}}\ntrials: 1\ncheckpoint: {keep: 2}\n", wobbly(0))
	finish(t, o)
	contains(t, seen.String(), "checkpoint has no effect: trial 0 has made none; a trainable reports checkpoints with "+
		"a result, in Python with tune.report(…, checkpoint=…)")
}

// B-055: a trial that completes before the iteration that an earlier attempt of it had reported is warned of, once.
func TestShorterLaterAttempt(t *testing.T) {
	const file = `version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, -c, 'for i in 1 2 3; do echo "{\"score\": $i}";
  if [ -e again ] && [ $i = LAST ]; then exit 0; fi; done; if [ -e again ]; then exit 0; fi; touch again; exit 1']}
space: {x: {uniform: [0, 1]}}
trials: 2
concurrency: 1
failures: {retries: 1}
`
	for last, want := range map[string]int{"1": 1, "3": 0} {
		o, seen := quick(t, strings.ReplaceAll(file, "LAST", last), command.Plugin())
		if ended := finish(t, o); ended.Errored > 0 {
			t.Fatalf("%+v", ended)
		}
		for _, who := range []string{"trial 0", "2 trials"} {
			said := who + " completed in a later attempt at iteration 1, and an earlier attempt had reported " +
				"iteration 3: the last result of the later one counts"
			if n := strings.Count(seen.String(), said); n != want {
				t.Errorf("to iteration %s: %q is there %d times:\n%s", last, said, n, seen.String())
			}
		}
	}
}
