package hosttest_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/hosttest"
)

// B-059, B-080: machines are lost at any moment, with all that is on them, and
// others continue with what was copied, until the experiment is done.
func TestLostMachines(t *testing.T) {
	t.Parallel()
	from := *seed
	if from == 0 {
		from = uint64(time.Now().UnixNano())
	}
	t.Logf("-torture.seed %d", from)
	rng := rand.New(rand.NewPCG(from, 1))
	x := write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 9, sleep: 0.1, any_params: true}}
space: {quality: {uniform: [0, 1]}}
checkpoint: {every: 2, keep: 2, score: score}
searcher: random
scheduler: {plugin: asha, type: promotion, max: 9}
trials: 12
`, nil)
	x.Storage = "file://" + filepath.ToSlash(x.Storage)
	state := t.TempDir()
	for lost := 0; ; lost++ {
		if rng.IntN(3) > 0 { // else the same machine starts again
			state = t.TempDir()
		}
		p := x.start(t, "XDG_STATE_HOME="+state)
		var death <-chan time.Time
		if lost < 8 {
			death = time.After(time.Duration(rng.ExpFloat64() * float64(600*time.Millisecond)))
		}
		select {
		case got := <-p.exit:
			if got != 0 {
				t.Fatalf("after %d machines the host ended with status %d:\n%s", lost, got, p.out.String())
			}
			found, err := filepath.Glob(filepath.Join(state, "tunehost", "*", "test"))
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			t.Logf("%d machines were lost", lost)
			hosttest.CheckFinished(t, found[0], 12)
			hosttest.CheckReplay(t, found[0], plugged)
			return
		case <-death:
			p.kill(t)
		}
	}
}
