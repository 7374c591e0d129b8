package hosttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/hosttest"
)

// finishing saves a checkpoint at its second iteration, and at its end another one and a
// model, once a file lets it.
const finishing = `
#!/bin/sh
go=../../../../go; i=0
hand() { # a result, with a checkpoint
	mkdir "$TUNEHOST_CHECKPOINT_DIR/$1" && echo $i > "$TUNEHOST_CHECKPOINT_DIR/$1/state"
	echo "{\"score\": $i, \"checkpoint\": \"$TUNEHOST_CHECKPOINT_DIR/$1\"}"
}
finally() {
	trap '' TERM
	echo ending at $i >> own.log
	while [ ! -e $go ]; do sleep 0.02; done
	hand last; echo model > final.pkl
	exit 0
}
[ -n "$TUNEHOST_CHECKPOINT" ] && i=$(cat "$TUNEHOST_CHECKPOINT/state")
echo from $i >> own.log
trap finally TERM
i=$((i + 1))
if [ $i = 1 ]; then
	echo "{\"score\": $i}"
	i=2; hand second
	while [ -d "$TUNEHOST_CHECKPOINT_DIR/second" ]; do sleep 0.02; done # it is kept
	i=3
fi
echo "{\"score\": $i}"
while :; do sleep 0.02; done
`

// B-080 B-061: a host is killed while a trial that a rule has stopped cleans up. The next one has it
// run again from its last checkpoint up to where it was stopped, so that what it saves at its
// end is there, and nothing counts twice.
func TestKilledDuringCleanup(t *testing.T) {
	t.Parallel()
	x := program(t, finishing, "stop: {iteration: 3}\nstop_grace: 10m\n")
	own := func() string {
		dirs := x.trials(t)
		if len(dirs) == 0 {
			return ""
		}
		text, _ := os.ReadFile(filepath.Join(dirs[0], "own.log"))
		return string(text)
	}
	p := x.start(t)
	x.await(t, p, func() bool { return strings.Count(own(), "ending") == 1 })
	p.kill(t)
	p = x.start(t)
	x.await(t, p, func() bool { return strings.Count(own(), "ending") == 2 })
	x.letGo(t)
	said := p.ends(t, 0)
	wants(t, said, "the host died while the trial was ending: it runs again from iteration 2")
	if want := "from 0\nending at 3\nfrom 2\nending at 3\n"; own() != want {
		t.Errorf("the program says %q, want %q", own(), want)
	}
	dir := x.trials(t)[0]
	if text, err := os.ReadFile(filepath.Join(dir, "final.pkl")); err != nil || string(text) != "model\n" {
		t.Errorf("its model is %q, %v", text, err)
	}
	// It is the second one that is kept, and the first of the second attempt.
	if last, err := os.ReadFile(filepath.Join(dir, "checkpoints", "000002", "files", "state")); err != nil ||
		string(last) != "3\n" {
		t.Errorf("its last checkpoint has %q, %v", last, err)
	}
	var iterations []any
	for _, line := range hosttest.Lines(t, filepath.Join(dir, "result.jsonl")) {
		iterations = append(iterations, line["iteration"])
	}
	if fmt.Sprint(iterations) != "[1 2 3]" {
		t.Errorf("its results are of %v", iterations)
	}
}
