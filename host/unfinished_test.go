package host

import (
	"path/filepath"
	"testing"
)

// B-155: a program ended while it made its first checkpoint. The host that takes the
// experiment up removes what there is of it, though no checkpoint of the trial was ever kept.
func TestUnfinishedCheckpointGoes(t *testing.T) {
	t.Parallel()
	o, _ := quiet(t, `version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, -c, '[ -e ran ] && echo "{\"score\": 1}" && exit; touch ran; mkdir `+
		`.checkpoints/.new-ab_12xyz; exit 1']}
space: {x: 1}
`)
	ended := finish(t, o)
	pattern := filepath.Join(ended.Dir, "trials", "*", ".checkpoints", ".new-*")
	if left, _ := filepath.Glob(pattern); len(left) != 1 {
		t.Fatalf("the program left %v", left)
	}
	o.Again.Errored = true
	finish(t, o)
	if left, _ := filepath.Glob(pattern); len(left) != 0 {
		t.Errorf("there is still %v", left)
	}
}
