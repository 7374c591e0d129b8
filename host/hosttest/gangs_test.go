package hosttest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/hosttest"
)

// gangs asks for two workers a trial.
const gangs = "placement: {bundles: [{cpu: 1}, {cpu: 1}], workers: true}\n"

// lone is a part of a script in which rank 1 does what counting and spawning do of
// processes that leave it, and then nothing.
const lone = `
#!/bin/sh
if [ "$RANK" != 0 ]; then
	trap '' TERM
	setsid sleep 600 &
	(setsid env -i sleep 600 &)
	touch "worker.$RANK"
	while :; do sleep 1; done
fi
while [ ! -e worker.1 ]; do sleep 0.01; done
`

// B-025: workers that hear no signal, and what has left them, end with their host,
// however that ends.
func TestNothingOfAGangIsLeft(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]os.Signal{"interrupt": syscall.SIGINT, "kill": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			x := write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: ["./work.sh"]}
space: {}
trials: 2
stop_grace: 1s
`+gangs, map[string]string{"work.sh": lone + `echo '{"score": 1}'; exec sleep 600`})
			x.Resources = "2x(cpu=2)"
			p := x.start(t)
			x.awaitResults(t, p, 2)
			p.signal(t, sig)
			<-p.exit
			if name != "kill" {
				none(t, x)
			}
		})
	}
}

// B-080, B-025: gangs of hosts that are killed are begun anew from rank 0's
// checkpoints, and none of them is left running.
func TestKilledHostsOfGangs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for killed := 0; killed == 0; { // on a busy machine all may end before their time
		x := write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: ["./count.sh"]}
space: {quality: {uniform: [0, 1]}}
searcher: random
trials: 4
stop_grace: 1s
`+gangs, map[string]string{"count.sh": "#!/bin/sh\n[ $RANK = 0 ] || exec sleep 600\n" + counting})
		x.Resources = "cpu=4"
		defer keepFailed(t, x)
		killed = torture(t, x, rng, 4)
		hosttest.CheckFinished(t, x.dir, 4)
		hosttest.CheckReplay(t, x.dir, plugged)
		ownAccounts(t, x)
	}
}

// Trials of groups take over others' checkpoints like any other; B-033.
func TestGangsExploit(t *testing.T) {
	t.Parallel()
	for range 5 { // a trial that the machine keeps back until the others have ended takes over nothing
		if exploited(t) > 0 {
			return
		}
	}
	t.Error("no trial has gone on from another's checkpoint")
}

// exploited runs an experiment, and says how often a trial continued from another's
// checkpoint.
func exploited(t *testing.T) (took int) {
	x := write(t, `
version: 1
seed: 3
objective: {metric: score, mode: max}
trainable: {command: ["./count.sh"]}
space: {quality: {uniform: [0, 1]}}
searcher: random
scheduler: {plugin: pbt, interval: 3}
trials: 4
stop_grace: 1s
`+gangs, map[string]string{"count.sh": `
#!/bin/sh
touch "begun.$TUNEHOST_TRIAL_ID.$RANK.$$"
[ $RANK = 0 ] || exit 0
` + counting})
	x.edit(t, "metric: score", "metric: quality")
	x.Resources = "2x(cpu=4)"
	x.run(t, 0)
	hosttest.CheckReplay(t, x.dir, plugged)
	for i, dir := range x.trials(t) {
		ranks := make([]int, 2)
		for rank := range ranks {
			found, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("begun.*.%d.*", rank)))
			if err != nil {
				t.Fatal(err)
			}
			ranks[rank] = len(found)
		}
		if ranks[0] == 0 || ranks[0] != ranks[1] {
			t.Errorf("trial %d: rank 0 was started %d times, rank 1 %d times", i, ranks[0], ranks[1])
		}
		took += ranks[0] - 1
	}
	return took
}
