package host

import (
	"strings"
	"testing"

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
		"stop: {lss: 0.1}":               `stop.lss has no effect: trial 0 has reported no "lss", but score, loss; did you mean "loss"?`,
		"stop: {when: acc > 3}":          `what "acc" decides in stop.when has no effect: trial 0 has reported no "acc", but score, loss`,
		"stop: {steps_total: 3}":         `stop.steps_total has no effect: trial 0 has reported no "steps_total"`,
		"stop: {plateau: {metric: acc}}": `stop.plateau has no effect`,
		"checkpoint: {score: acc}":       `checkpoint.score has no effect`,
		"checkpoint: {keep: 2}":          `checkpoint has no effect: trial 0 has made none`,
		"checkpoint: {every: 2}":         `checkpoint.every has no effect: a program makes checkpoints when it likes`,
		"checkpoint: {at_end: true}":     `checkpoint.at_end has no effect`,
		"stop: {loss: 4}":                `stop: loss was at least 4 at the first result of trial 0, which stops it; where less is better write loss: {below: 4}`,
	} {
		o, seen := quick(t, file+add, command.Plugin())
		finish(t, o)
		text := seen.String()
		warned, noted := strings.Count(text, "warning: "+o.File+":7:"), strings.Count(text, "note")
		if !strings.Contains(text, want) || strings.Count(text, want) != 2 || noted == 0 || warned == 0 {
			t.Errorf("%s: %q is there %d times:\n%s", add, want, strings.Count(text, want), text)
		}
	}
	o, seen := quick(t, file+"stop: {score: 2, loss: {below: 1}, time_since_restore: 1e9, when: iterations_since_restore > 99}", command.Plugin())
	finish(t, o)
	if strings.Contains(seen.String(), "no effect") || strings.Contains(seen.String(), "warning") {
		t.Error(seen.String())
	}
}
