package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/testplace"
)

// lossy prints losses, each with a checkpoint, and waits until that is taken.
const lossy = `
i=0
for loss in 5 1 3 NaN 1 9 2 8; do
	i=$((i + 1)); dir=$TUNEHOST_CHECKPOINT_DIR/$i
	mkdir -p $dir && echo $loss > $dir/loss
	echo "{\"loss\": $loss, \"iteration\": $i, \"checkpoint\": \"$dir\"}"
	while [ -d $dir ]; do sleep 0.01; done
done
`

func lossyExperiment(t *testing.T, more string) (Options, *testplace.Screen) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "train.sh")
	if err := os.WriteFile(script, []byte(lossy), 0o600); err != nil {
		t.Fatal(err)
	}
	return quiet(t, `
version: 1
objective: {metric: loss, mode: min}
trainable: {command: [sh, `+script+`]}
space: {x: 1}
`+more)
}

// B-053: the best is kept, and also the newest; the mode of a score that is the objective's
// metric is the objective's.
func TestKeepsTheBestBesideTheNewest(t *testing.T) {
	t.Parallel()
	o, _ := lossyExperiment(t, "checkpoint: {keep: 1, score: loss}\n")
	kept := folders(t, finish(t, o).Dir, "00*")
	if len(kept) != 2 {
		t.Fatalf("kept: %v", kept)
	}
	for i, want := range []string{"1", "8"} {
		if got := strings.TrimSpace(text(t, filepath.Join(kept[i], "files", "loss"))); got != want {
			t.Errorf("%s is of loss %s, want %s", kept[i], got, want)
		}
	}
}

// B-053, B-014: results must have the metric by which checkpoints are kept.
func TestUnreportedScore(t *testing.T) {
	t.Parallel()
	const lacks = `lacks the metric "los", which the key checkpoint.score needs; it has loss`
	o, seen := lossyExperiment(t, "checkpoint: {keep: 1, score: los, mode: min}\n")
	if ended, err := run(t.Context(), o); err == nil && ended.Errored == 0 {
		t.Errorf("%+v", ended)
	}
	contains(t, seen.String(), lacks)
	o, seen = lossyExperiment(t, "checkpoint: {keep: 1, score: los, mode: min}\nstrict_metrics: false\n")
	ended := finish(t, o)
	contains(t, seen.String(), lacks)
	if kept := folders(t, ended.Dir, "00*"); len(kept) != 1 || filepath.Base(kept[0]) != "000008" {
		t.Errorf("kept: %v", kept)
	}
}
