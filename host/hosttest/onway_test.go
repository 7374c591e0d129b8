package hosttest_test

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/view"
)

// B-056: a program that prints continues printing while it is told to pause. What it
// has printed by then is kept, and told to the searcher once, whatever it prints again
// when it continues.
func TestResultsOnTheWayToAPause(t *testing.T) {
	t.Parallel()
	x := write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: ["./print.sh"]}
space: {n: {grid: [1, 2, 3, 4]}}
searcher: grid
scheduler: fickle
`, map[string]string{"print.sh": `
#!/bin/sh
[ -f once ] || { touch once; first=yes; trap 'echo "{\"score\": 3}"; exit 0' TERM; }
echo '{"score": 1}'
echo '{"score": 2}'
[ -n "$first" ] && { sleep 60 & wait; }
echo '{"score": 3}'
echo '{"score": 4}'
`})
	x.run(t, 0)
	hosttest.CheckFinished(t, x.dir, 4)
	hosttest.CheckReplay(t, x.dir, plugged)
	told, again := map[core.TrialNo][]uint64{}, 0
	err := x.look(t).Replay(func(m view.Moment) error {
		switch {
		case m.Kind != core.SawResult:
		case m.To&core.ToSearcher != 0:
			told[m.Trial] = append(told[m.Trial], m.Iteration)
		default:
			again++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for no := range core.TrialNo(4) {
		if got := told[no]; len(got) != 4 || got[0] != 1 || got[3] != 4 {
			t.Errorf("the searcher was told iterations %v of trial %d", got, no)
		}
	}
	if again < 4 {
		t.Errorf("only %d results were reported again: the test shows nothing", again)
	}
}
